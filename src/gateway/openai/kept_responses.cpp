#include "gateway/openai/kept_responses.hpp"

#include <vector>

#include "base/json/json_member.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "gateway/chat/chat_read.hpp"

namespace plimsoll::gateway {
namespace {

using base::list_in;
using base::member;
using base::text_in;
using Json = nlohmann::ordered_json;

constexpr const char* kind = "response";

Error unknown(std::string_view id) {
  return {Errc::not_found,
          fmt::format(
              "unknown response '{}': it had \"store\": false, was deleted, belongs to another key, or is "
              "too old",
              id.substr(0, 80))};
}

Result<Run> find(SessionStore& store, std::string_view owner, std::string_view id) {
  auto run = store.run(owner, kind, id);
  if (!run && run.error().code == Errc::not_found) return tl::unexpected(unknown(id));
  return run;
}

}  // namespace

std::string KeptResponses::new_id() {
  return "resp_" + random_id();
}

Result<Conversation> KeptResponses::until(std::string_view owner, std::string_view id) const {
  std::vector<Json> chain;  // items of each response, newest first
  std::size_t bytes = 0;
  std::string next(id);
  Conversation found;
  while (!next.empty()) {
    TRY(const Run run, find(store_, owner, next));
    bytes += run.asked.size() + run.outcome.size();
    if (chain.size() >= limits_.chain || bytes > limits_.chain_bytes)
      return fail(
          Errc::bad_input,
          "the conversation of previous_response_id has more than {} responses or {} bytes; start a new one",
          base::with_thousands(static_cast<std::int64_t>(limits_.chain)),
          base::with_thousands(static_cast<std::int64_t>(limits_.chain_bytes)));
    found.root = next;
    Json asked = base::parse_json(run.asked), said = base::parse_json(run.outcome);
    next = text_in(asked, "previous");
    Json items = Json::array();
    for (const Json& item : list_in(member(asked, "items"))) items.push_back(item);
    for (const Json& item : list_in(member(said, "output"))) items.push_back(item);
    chain.push_back(std::move(items));
  }
  for (auto items = chain.rbegin(); items != chain.rend(); ++items)
    for (Json& item : *items) found.items.push_back(std::move(item));
  return found;
}

Result<void> KeptResponses::keep(std::string_view owner, const Json& response, std::string_view items) const {
  Run run;
  run.id = response["id"].get<std::string>();
  run.owner = owner;
  run.kind = kind;
  run.state = RunState::done;
  run.asked = fmt::format(R"({{"previous":{},"items":{}}})",
                          base::json_text(response["previous_response_id"]), items);
  run.outcome = base::json_text(response);
  const auto bytes = static_cast<std::int64_t>(run.asked.size() + run.outcome.size());
  if (bytes > limits_.bytes)
    return fail(Errc::bad_input, "it has {} bytes with its request; at most {} are stored",
                base::with_thousands(bytes), base::with_thousands(limits_.bytes));
  return store_.begin_run(run, limits_.count);
}

Result<Json> KeptResponses::response(std::string_view owner, std::string_view id) const {
  TRY(const Run run, find(store_, owner, id));
  return base::parse_json(run.outcome);
}

Result<Json> KeptResponses::items(std::string_view owner, std::string_view id) const {
  TRY(const Run run, find(store_, owner, id));
  const Json asked = base::parse_json(run.asked);
  return member(asked, "items");
}

Result<void> KeptResponses::forget(std::string_view owner, std::string_view id) const {
  TRY(const bool found, store_.forget_run(owner, kind, id));
  TRY_VOID(store_.forget(owner, id));  // summaries of a conversation are stored under its first response
  if (!found) return tl::unexpected(unknown(id));
  return {};
}

}  // namespace plimsoll::gateway
