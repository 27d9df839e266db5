#include "models/ask_server.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text/text.hpp"
#include "base/try.hpp"

namespace plimsoll::models {
namespace {

constexpr int most_late = 2;  // after this the server counts as hanging
constexpr std::size_t longest_said = 120;

// Returns the server's error message, shortened, on one line: from {"error": {"message": ...}}, {"error":
// ...} or {"detail": ...}. Removes the secret if the server repeats it.
std::string said_in(const std::string& body, const base::Secret& secret) {
  const auto json = nlohmann::json::parse(body, nullptr, false);
  if (!json.is_object()) return {};
  for (const char* key : {"error", "detail", "message"}) {
    const auto found = json.find(key);
    if (found == json.end()) continue;
    const auto& value = found->is_object() && found->contains("message") ? found->at("message") : *found;
    if (!value.is_string()) continue;
    auto said = value.get<std::string>();
    for (std::size_t at = 0; !secret.empty() && (at = said.find(secret.reveal(), at)) != std::string::npos;
         at += 3)
      said.replace(at, secret.reveal().size(), "***");
    std::string text = nlohmann::json(said).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    if (text.size() > longest_said) text = text.substr(0, longest_said) + "...";
    return text;
  }
  return {};
}

std::string complaint_of(const HttpReply& reply, const base::Secret& key) {
  if (!reply.location.empty())
    return fmt::format("status {}: redirect to {}, which is not followed", reply.status,
                       origin_of(reply.location).empty() ? "elsewhere" : origin_of(reply.location));
  const std::string said = said_in(reply.body, key);
  if (!said.empty()) return fmt::format("status {}: {}", reply.status, said);
  if (reply.status == 401 || reply.status == 403)
    return fmt::format("status {}: it requires a key", reply.status);
  return fmt::format("status {}", reply.status);
}

std::vector<HttpHeader> headers_of(const Upstream& upstream, std::optional<ServerKind> kind, bool body) {
  std::vector<HttpHeader> headers{{"Accept", "application/json"}};
  if (body) headers.push_back({"Content-Type", "application/json"});
  if (kind == ServerKind::anthropic) headers.push_back({"anthropic-version", "2023-06-01"});
  if (upstream.key.empty()) return headers;
  if (kind == ServerKind::anthropic)
    headers.push_back({"x-api-key", upstream.key.reveal()});
  else if (kind == ServerKind::gemini)
    headers.push_back({"x-goog-api-key", upstream.key.reveal()});
  else
    headers.push_back({"Authorization", "Bearer " + upstream.key.reveal()});
  return headers;
}

// Removes the address from the start of a message of the HTTP client: the user knows it.
std::string without_address(const Error& error) {
  const std::size_t space = error.what.find(": ");
  return error.what.starts_with("http") && space != std::string::npos ? error.what.substr(space + 2)
                                                                      : error.what;
}

std::string figure(const ReportedModel& model) {
  return model.served_by.find(' ') == std::string::npos
             ? fmt::format("{} {}", model.served_by, base::with_thousands(model.served))
             : fmt::format("{}: {}", model.served_by, base::with_thousands(model.served));
}

// Describes what was found for one model, for WindowAttempt.
std::string outcome(const ReportedModel& model, std::string_view otherwise) {
  if (model.served > 0) return figure(model);
  return model.problem.empty() ? std::string(otherwise) : model.problem;
}

void fill(std::string& text, const std::string& from) {
  if (text.empty()) text = from;
}

// Fills in what only the second one knows.
void complete(ReportedModel& model, const ReportedModel& other) {
  if (model.maximum == 0) model.maximum = other.maximum;
  if (model.max_output == 0) model.max_output = other.max_output;
  fill(model.parameters, other.parameters);
  fill(model.quantization, other.quantization);
  fill(model.family, other.family);
}

}  // namespace

ServerTalk::ServerTalk(HttpClient& http, const Upstream& upstream, Deadline deadline,
                       std::chrono::milliseconds each_ask)
    : http_(http), upstream_(upstream), deadline_(deadline), each_ask_(each_ask), kind_(upstream.kind) {}

Result<std::string> ServerTalk::send(const ServerAsk& ask) {
  if (gone_) return tl::unexpected(*gone_);
  HttpRequest request{std::string(ask.method), upstream_.root + ask.path,
                      headers_of(upstream_, kind_, !ask.body.empty()), ask.body};
  auto reply = http_.send(request, sooner(deadline_, Deadline::after(each_ask_)));
  if (!reply) {
    late_ = reply.error().code == Errc::timed_out ? late_ + 1 : 0;
    const Error error{reply.error().code, without_address(reply.error())};
    if (error.code == Errc::unreachable || error.code == Errc::bad_input || late_ >= most_late ||
        deadline_.passed())
      gone_ = Error{error.code, "not asked: the server did not answer earlier requests"};
    return tl::unexpected(error);
  }
  late_ = 0;
  answered_ = answered_ || reply->status < 500;
  if (reply->status != 200)
    return tl::unexpected(Error{reply->status == 404 ? Errc::not_found : Errc::upstream_failed,
                                complaint_of(*reply, upstream_.key)});
  return std::move(reply->body);
}

Result<std::string> ServerTalk::ask(const ServerAsk& ask) {
  if (!ask.body.empty()) return send(ask);
  const std::string name = std::string(ask.method) + " " + ask.path;
  if (const auto known = replies_.find(name); known != replies_.end()) return known->second;
  return replies_.emplace(name, send(ask)).first->second;
}

void ServerTalk::note(const ServerAsk& ask, std::string result) {
  const std::string path = ask.path.substr(0, ask.path.find('?'));
  tried_.push_back(
      {fmt::format("{}{}{} {}", kind_ ? name_of(*kind_) : "", kind_ ? " " : "", ask.method, path),
       std::move(result)});
}

std::optional<ServerKind> ServerTalk::kind() {
  if (!kind_ && !std::exchange(looked_, true)) kind_ = recognise();
  return kind_;
}

// Tries OpenAI's list first: most servers have it, and many can be recognised by it. Then the requests that
// only one kind answers. The kind suggested by the port comes first.
std::optional<ServerKind> ServerTalk::recognise() {
  std::vector<ServerKind> order{ServerKind::openai, ServerKind::ollama, ServerKind::llama_cpp,
                                ServerKind::lm_studio, ServerKind::tgi};
  if (const auto likely = hint_of(upstream_.root).likely)
    std::ranges::stable_partition(order, [&](ServerKind one) { return one == likely; });
  bool has_list = false;
  for (const ServerKind one : order) {
    const ServerAsk question = ask_whether(one);
    const auto reply = ask(question);
    if (!reply) {
      note(question, reply.error().what);
      if (gone_) return std::nullopt;
      continue;
    }
    if (one == ServerKind::openai) {
      if (const auto shown = recognise_by_models(*reply)) return shown;
      const auto models = read_models(one, *reply);
      has_list = models.has_value();
      note(question, has_list ? "a list that does not show the kind of server" : models.error().what);
    } else if (answers_as(one, *reply)) {
      return one;
    } else {
      note(question, fmt::format("not what {} replies", name_of(one)));
    }
  }
  if (has_list) return ServerKind::openai;
  return std::nullopt;
}

Result<std::vector<ReportedModel>> ServerTalk::models() {
  const auto known = kind();
  if (!known) return fail(Errc::upstream_failed, "the kind of server could not be detected");
  const ServerAsk question = ask_for_models(*known);
  const auto reply = ask(question);
  auto models = reply ? read_models(*known, *reply) : tl::unexpected(reply.error());
  if (!models) note(question, models.error().what);
  return models;
}

void ServerTalk::add_loaded(std::string_view name, ReportedModel& model) {
  const auto question = ask_for_loaded(*kind_);
  if (!question) return;
  const auto reply = ask(*question);
  const auto loaded = reply ? read_loaded(*kind_, *reply) : tl::unexpected(reply.error());
  if (!loaded) return note(*question, loaded.error().what);
  const ReportedModel* found = find_served(*loaded, name);
  if (found == nullptr) return note(*question, "the model is not loaded");
  note(*question, outcome(*found, "the model is loaded, but this version does not report its window"));
  if (found->served == 0) return;
  model.served = found->served;
  model.served_by = found->served_by;
  model.confidence = found->confidence;
  complete(model, *found);
}

ReportedModel ServerTalk::completed(const ReportedModel& listed) {
  const auto question = ask_for_model(*kind_, listed.name);
  if (!question) {
    note(ask_for_models(*kind_), outcome(listed, "the list does not have its window"));
    return listed;
  }
  const auto reply = ask(*question);
  auto model = reply ? read_model(*kind_, *reply) : tl::unexpected(reply.error());
  note(*question, model ? outcome(*model, "no num_ctx is set") : model.error().what);
  ReportedModel whole = model ? *std::move(model) : ReportedModel{};
  whole.name = listed.name;
  complete(whole, listed);
  if (whole.served == 0) add_loaded(listed.name, whole);
  return whole;
}

std::optional<ReportedModel> ServerTalk::model(std::string_view name) {
  if (!kind()) return std::nullopt;
  ReportedModel wanted;
  wanted.name = name;
  if (const auto question = ask_for_model(*kind_, name)) {
    ReportedModel found = completed(wanted);
    const bool told = found.served > 0 || found.maximum > 0 || !found.family.empty();
    return told ? std::optional(std::move(found)) : std::nullopt;
  }
  const auto listed = models();
  if (!listed) return std::nullopt;
  const ReportedModel* found = find_served(*listed, name);
  // TGI runs one model and ignores the name in a request.
  if (found == nullptr && *kind_ == ServerKind::tgi && !listed->empty()) found = listed->data();
  if (found != nullptr) return completed(*found);
  note(ask_for_models(*kind_), fmt::format("it lists {} models, but not '{}'", listed->size(), name));
  return std::nullopt;
}

}  // namespace plimsoll::models
