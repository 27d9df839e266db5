// POST /documents: a form with files, which are added to an index in the background.
#include <algorithm>
#include <set>

#include "base/json/json_shape.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/text/text.hpp"
#include "engine/client_gone.hpp"
#include "gateway/api.hpp"
#include "gateway/chat/chat_routes.hpp"
#include "gateway/http/multipart.hpp"

namespace plimsoll::gateway {
namespace {

// Names become keys of documents and are shown to models; they are never used to open files.
void check_file_name(const std::string& name, std::set<std::string>& seen, Complaints& complaints) {
  constexpr std::size_t longest = 500;
  const Json location{"body", "file"};
  const bool control =
      std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  if (name.empty() || name.size() > longest || control || !base::is_valid_utf8(name))
    complaints.add(
        "value_error", location,
        fmt::format("A file name must have 1 to {} bytes of UTF-8 without control characters", longest),
        nullptr);
  else if (!seen.insert(name).second)
    complaints.add("value_error", location, fmt::format("Two files have the name '{}'", name), nullptr);
}

void read_metadata(std::string_view text, Metadata& metadata, Complaints& complaints) {
  const Json location{"body", "metadata"};
  const bool sound = base::is_valid_utf8(text) && base::check_json_shape(text, "metadata");
  const Json json = sound ? base::parse_json(text) : Json();
  if (!json.is_object())
    complaints.add("dict_type", location, "Input should be a JSON object", nullptr);
  else
    metadata = metadata_from(json);
}

void read_form(const std::vector<FormPart>& parts, UploadAsk& ask, Complaints& complaints) {
  std::set<std::string> names;
  for (const FormPart& part : parts) {
    if (part.name == "index" || part.name == "collection_id") {
      const std::string index(part.body);
      if (!ask.index.empty() && index != ask.index)
        complaints.add("value_error", {"body", part.name}, "The form names two indexes", nullptr);
      check_name(index, {"body", part.name}, complaints);
      ask.index = index;
    } else if (part.name == "metadata") {
      read_metadata(part.body, ask.metadata, complaints);
    } else if (part.filename) {  // `file`, `files`, `files[]`: clients differ
      check_file_name(*part.filename, names, complaints);
      ask.files.push_back({*part.filename, part.body});
    } else {
      complaints.add("extra_forbidden", {"body", part.name.substr(0, 100)},
                     "The form fields are index or collection_id, metadata, and files", nullptr);
    }
  }
  if (ask.index.empty() && !complaints.any()) complaints.missing({"body", "index"}, nullptr);
  if (ask.files.empty() && !complaints.any()) complaints.missing({"body", "file"}, nullptr);
}

}  // namespace

ChatRoutes::Answer ChatRoutes::accept_upload(ClientRequest& request, std::string& job, bool& wait) const {
  Complaints complaints;
  wait = flag_parameter(request.query, "wait", complaints);
  if (complaints.any()) return {422, complaints.body()};
  if (!is_multipart(request.content_type))
    return {415,
            {{"detail", "Upload files as multipart/form-data, for example with `curl -F file=@guide.md`."}}};
  UploadAsk ask;
  ask.body = std::make_shared<const std::string>(std::move(request.body));
  const auto parts = read_multipart(request.content_type, *ask.body);
  if (!parts) return refusal(parts.error());
  read_form(*parts, ask, complaints);
  if (complaints.any()) return {422, complaints.body()};
  ask.caller = request.caller;
  // An existing index may be given by its number; a new one is created with its name.
  if (const auto known = collection_named(request.caller, ask.index)) ask.index = *known;
  const std::string index = ask.index;
  const std::size_t files = ask.files.size();
  Uploads::Accepted accepted = context_.uploads->accept(std::move(ask));
  job = accepted.job;
  if (job.empty()) {
    Answer refused{accepted.status, {{"detail", std::move(accepted.why)}}};
    if (accepted.status == 429) refused.headers.push_back({"Retry-After", "5"});
    return refused;
  }
  return {202, {{"job_id", job}, {"status", "queued"}, {"index", index}, {"documents", files}}};
}

Awaitable<void> ChatRoutes::upload(Call call) const {
  constexpr std::chrono::milliseconds first_pause{5}, longest_pause{200};
  Answer answer;
  std::string job;
  bool wait = false;
  std::function<void()> accepting = [&] { answer = accept_upload(call.request, job, wait); };
  co_await call.thread.elsewhere(std::move(accepting));
  if (wait && !job.empty()) {
    for (auto pause = first_pause; !context_.uploads->is_over(job) && !call.deadline.passed();
         pause = std::min(2 * pause, longest_pause)) {
      co_await call.thread.pause(pause);
      if (co_await engine::client_is_gone()) co_return;  // the job continues
    }
    std::function<void()> looking = [&] {
      auto shown = context_.uploads->shown(call.request.caller.owner, job);
      if (!shown) return;
      const bool over = (*shown)["status"] != "queued" && (*shown)["status"] != "running";
      answer.status = over ? 200 : 202;
      answer.body = *std::move(shown);
    };
    co_await call.thread.elsewhere(std::move(looking));
  }
  co_await send_json(call.reply, answer.status, base::json_text(answer.body), std::move(answer.headers));
}

}  // namespace plimsoll::gateway
