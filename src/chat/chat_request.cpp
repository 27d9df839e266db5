#include "chat/chat_request.hpp"

#include <algorithm>
#include <map>

#include "base/json/json_member.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "chat/asked_messages.hpp"
#include "count/chat/chat_content.hpp"

namespace plimsoll::chat {
namespace {

using base::member;
using Json = nlohmann::ordered_json;

bool has_role(const Json& message, std::string_view role) {
  return message["role"] == role;
}

// ---- Messages ----

// Maps each tool call to its message, so that its result joins it whatever is between them.
class Calls {
 public:
  void made_in(std::size_t index, const Json& message) {
    for (const Json& call : member(message, "tool_calls"))
      if (const Json& id = member(call, "id"); id.is_string()) messages_[id.get<std::string>()] = index;
  }
  std::optional<std::size_t> answered_by(const Json& message) const {
    const Json& id = member(message, "tool_call_id");
    const auto found = id.is_string() ? messages_.find(id.get_ref<const std::string&>()) : messages_.end();
    return found == messages_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<std::string, std::size_t, std::less<>> messages_;
};

// Joins all turns from `first` on into one.
void join_from(std::size_t first, std::vector<Messages>& turns) {
  for (std::size_t i = first + 1; i < turns.size(); ++i)
    turns[first].insert(turns[first].end(), turns[i].begin(), turns[i].end());
  turns.resize(first + 1);
}

// Divides all messages but the system's into turns; the last one is the question.
void divide(const Json& messages, ChatRequest& parts) {
  std::optional<std::size_t> last_user;
  for (std::size_t i = 0; i < messages.size(); ++i)
    if (has_role(messages[i], "user")) last_user = i;

  bool after_user = false;
  Calls calls;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Json& message = messages[i];
    if (has_role(message, "system") || has_role(message, "developer")) {
      parts.system.push_back(i);
      continue;
    }
    const bool user = has_role(message, "user");
    // After the last question each step of an agent is a turn; before it, a turn ends at the next user
    // message.
    const bool step = last_user && i > *last_user && has_role(message, "assistant");
    if (parts.turns.empty() || (user && !after_user) || step) parts.turns.emplace_back();
    parts.turns.back().push_back(i);
    if (const auto call = calls.answered_by(message)) {
      const auto behind =
          std::ranges::upper_bound(parts.turns, *call, {}, [](const Messages& turn) { return turn.front(); });
      join_from(static_cast<std::size_t>(behind - parts.turns.begin()) - 1, parts.turns);
    }
    calls.made_in(i, message);
    after_user = user;
  }
  const auto holds = [&](const Messages& turn) { return std::ranges::find(turn, *last_user) != turn.end(); };
  const auto asked = last_user ? std::ranges::find_if(parts.turns, holds) : parts.turns.end();
  if (!parts.turns.empty()) {
    parts.question = std::move(parts.turns.back());  // the last step, or the question itself
    if (asked != parts.turns.end() && asked != std::prev(parts.turns.end())) {
      parts.question.insert(parts.question.begin(), asked->begin(), asked->end());
      parts.turns.pop_back();
      parts.turns.erase(asked);
    } else {
      parts.turns.pop_back();
    }
  }
  parts.asked_at = last_user.value_or(messages.size() - 1);
  for (const std::size_t i : parts.question)
    if (has_role(messages[i], "user"))
      parts.query += (parts.query.empty() ? "" : "\n\n") + count::joined_text(member(messages[i], "content"));
}

// ---- Fields ----

// Returns a value for an error message, shortened.
std::string shown(const Json& value) {
  constexpr std::size_t longest = 60;
  const std::string text = value.is_structured() ? std::string(value.type_name()) : value.dump(-1, ' ', true);
  return text.size() > longest ? text.substr(0, longest) + "..." : text;
}

Result<std::optional<Tokens>> tokens_of(const Json& object, const char* key, const char* path, Tokens least) {
  const Json& value = member(object, key);
  if (value.is_null()) return std::nullopt;
  if (!value.is_number_integer() || value.get<double>() < static_cast<double>(least) ||
      value.get<double>() > static_cast<double>(budget::most_tokens))
    return fail(Errc::bad_input, "{} is {}, not a whole number from {} to {}", path, shown(value), least,
                base::with_thousands(budget::most_tokens));
  return value.get<Tokens>();
}

// Other names for the answer's limit, which llama.cpp, TGI and Ollama prefer. They are converted to
// max_tokens, so that the planned and reserved limit is the one that is sent.
void take_other_limits(Json& body, bool& altered) {
  const auto take = [&](Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end()) return;
    const double limit = found->is_number() ? found->get<double>() : 0;
    const Json& known = member(body, "max_tokens");
    if (limit >= 1 && limit <= static_cast<double>(budget::most_tokens) &&
        (!known.is_number() || known.get<double>() < limit))
      body["max_tokens"] = static_cast<Tokens>(limit);
    object.erase(key);
    altered = true;
  };
  for (const char* key : {"n_predict", "max_new_tokens"}) take(body, key);
  if (const auto options = body.find("options"); options != body.end() && options->is_object()) {
    Json changed = *options;  // a copy: `body` may change while it is read
    take(changed, "num_predict");
    if (changed.size() != body["options"].size()) body["options"] = std::move(changed);
  }
}

Result<void> read_reserves(ChatRequest& parts) {
  take_other_limits(parts.body, parts.altered);
  for (const char* key : {"max_tokens", "max_completion_tokens"}) {
    if (member(parts.body, key) == -1) {  // no limit, for clients of llama.cpp and LM Studio
      parts.body.erase(key);
      parts.altered = true;
    }
    TRY(const auto tokens, tokens_of(parts.body, key, key, 1));
    if (tokens)
      parts.max_tokens = std::max(tokens, parts.max_tokens);  // servers differ in which one they use
  }
  // Anthropic's, OpenRouter's and our own field.
  TRY(const auto anthropic,
      tokens_of(member(parts.body, "thinking"), "budget_tokens", "thinking.budget_tokens", 0));
  TRY(const auto openrouter,
      tokens_of(member(parts.body, "reasoning"), "max_tokens", "reasoning.max_tokens", 0));
  TRY(const auto ours, tokens_of(member(parts.body, "plimsoll"), "thinking", "plimsoll.thinking", 0));
  parts.thinking = ours.value_or(openrouter.value_or(anthropic.value_or(0)));
  return {};
}

struct Given {
  std::string id, text;
  double value = 0;
};

// Reads a list of {id, text, VALUE}; id and value are optional: without values the order counts.
Result<std::vector<Given>> read_given(const Json& list, const char* name, const char* value_key) {
  std::vector<Given> given;
  if (list.is_null()) return given;
  if (!list.is_array()) return fail(Errc::bad_input, "plimsoll.{} is not a list", name);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Json& text = member(list[i], "text");
    const Json& id = member(list[i], "id");
    const Json& value = member(list[i], value_key);
    if (!text.is_string()) return fail(Errc::bad_input, "plimsoll.{}[{}] has no \"text\"", name, i);
    if (!id.is_null() && !id.is_string())
      return fail(Errc::bad_input, "plimsoll.{}[{}].id is not a string", name, i);
    if (!value.is_null() && !value.is_number())
      return fail(Errc::bad_input, "plimsoll.{}[{}].{} is not a number", name, i, value_key);
    given.push_back({id.is_string() ? id.get<std::string>() : fmt::format("{}[{}]", name, i),
                     text.get<std::string>(), value.is_number() ? value.get<double>() : 0});
  }
  return given;
}

// Unknown fields are refused, so that a misspelled field is not ignored silently.
Result<void> check_ours(const Json& ours) {
  constexpr std::string_view known[] = {"policy", "thinking", "passages", "memories", "explain",
                                        "budget", "order",    "fallback", "session",  "compress",
                                        "memory", "check",    "strategy", "recall"};
  if (!ours.is_null() && !ours.is_object()) return fail(Errc::bad_input, "plimsoll is not an object");
  for (const auto& [key, value] : ours.items()) {
    if (std::ranges::find(known, key) != std::end(known)) continue;
    const auto near = base::nearest(key, known);
    return fail(Errc::bad_input, "plimsoll has no field '{}'; {}", key,
                near ? fmt::format("did you mean '{}'?", *near)
                     : fmt::format("known fields: {}", fmt::join(known, ", ")));
  }
  return {};
}

Result<std::string> text_of(const Json& object, const char* key, const char* path) {
  const Json& value = member(object, key);
  if (value.is_null()) return std::string();
  if (!value.is_string()) return fail(Errc::bad_input, "{} is {}, not a string", path, shown(value));
  return value.get<std::string>();
}

Result<std::optional<bool>> flag_of(const Json& object, const char* key, const char* path) {
  const Json& value = member(object, key);
  if (value.is_null()) return std::nullopt;
  if (!value.is_boolean()) return fail(Errc::bad_input, "{} is {}, not true or false", path, shown(value));
  return value.get<bool>();
}

// `fallback`: true, false, or the models to fall back to.
Result<void> read_fallback(const Json& value, RequestWishes& wishes) {
  if (value.is_null()) return {};
  const bool names = value.is_array() && std::ranges::all_of(value, [](const Json& one) {
                       return one.is_string() && !one.get_ref<const std::string&>().empty();
                     });
  if (!value.is_boolean() && !names)
    return fail(Errc::bad_input, "plimsoll.fallback is {}, not true, false or a list of models",
                shown(value));
  wishes.fallback = names || value.get<bool>();
  if (names) wishes.fallback_models = value.get<std::vector<std::string>>();
  return {};
}

Result<void> read_wishes(const Json& body, RequestWishes& wishes) {
  const Json& ours = member(body, "plimsoll");
  TRY(wishes.index, text_of(body, "index_name", "index_name"));
  TRY(wishes.session, text_of(ours, "session", "plimsoll.session"));
  TRY(wishes.budget, tokens_of(ours, "budget", "plimsoll.budget", 0));
  TRY(const auto explain, flag_of(ours, "explain", "plimsoll.explain"));
  wishes.explain = explain.value_or(false);
  TRY(const auto check, flag_of(ours, "check", "plimsoll.check"));
  wishes.check = check.value_or(false);
  TRY(wishes.compress, flag_of(ours, "compress", "plimsoll.compress"));
  TRY(wishes.memory, flag_of(ours, "memory", "plimsoll.memory"));
  TRY(wishes.recall, flag_of(ours, "recall", "plimsoll.recall"));
  if (const Json& order = member(ours, "order"); !order.is_null()) {
    TRY(const std::string name, text_of(ours, "order", "plimsoll.order"));
    wishes.order = passage_order_named(name);
    if (!wishes.order)
      return fail(Errc::bad_input,
                  "plimsoll.order is '{}', not one of document, best-first, best-last, both-ends", name);
  }
  if (!member(ours, "strategy").is_null()) {
    TRY(const std::string name, text_of(ours, "strategy", "plimsoll.strategy"));
    wishes.strategy = strategy_named(name);
    if (!wishes.strategy)
      return fail(Errc::bad_input, "plimsoll.strategy is '{}', not one of STUFF, HYBRID, RAG, RAG+GRAPH",
                  name);
  }
  return read_fallback(member(ours, "fallback"), wishes);
}

Result<void> read_ours(ChatRequest& parts) {
  const Json& ours = member(parts.body, "plimsoll");
  TRY_VOID(check_ours(ours));
  if (const Json& policy = member(ours, "policy"); !policy.is_null()) {
    parts.policy = policy_named(policy.is_string() ? policy.get<std::string>() : "");
    if (!parts.policy)
      return fail(Errc::bad_input, "plimsoll.policy is {}, not one of {}", shown(policy),
                  fmt::join(policy_names(), ", "));
  }
  TRY(std::vector<Given> facts, read_given(member(ours, "memories"), "memories", "importance"));
  for (Given& fact : facts) {
    parts.additions.importance.push_back(fact.value);
    parts.additions.facts.push_back({std::move(fact.id), std::move(fact.text)});
  }
  TRY(std::vector<Given> passages, read_given(member(ours, "passages"), "passages", "score"));
  for (Given& passage : passages) {
    parts.additions.score.push_back(passage.value);
    parts.additions.passages.push_back({std::move(passage.id), std::move(passage.text)});
  }
  if (const Json& ratio = member(parts.body, "context_token_ratio"); !ratio.is_null()) {
    if (!ratio.is_number()) return fail(Errc::bad_input, "context_token_ratio is not a number");
    parts.context_ratio = ratio.get<double>();
  }
  return read_wishes(parts.body, parts.wishes);
}

// Who is to answer, and whether in a stream.
Result<void> read_answering(ChatRequest& request) {
  TRY(request.model, model_named(request.body));
  const Json& stream = member(request.body, "stream");
  if (!stream.is_null() && !stream.is_boolean()) return fail(Errc::bad_input, "stream is not true or false");
  request.streams = stream == true;
  request.wants_usage = member(member(request.body, "stream_options"), "include_usage") == true;
  return {};
}

}  // namespace

Result<std::string> model_named(const Json& body) {
  const Json& model = member(body, "model");
  if (model.is_null()) return std::string();
  if (!model.is_string())
    return fail(Errc::bad_input, "model is not a string; use a name from GET /v1/models");
  return model.get<std::string>();
}

std::string why_not_documents(const ChatRequest& request) {
  for (const char* key : {"tools", "functions"})
    if (!base::list_in(member(request.body, key)).empty()) return fmt::format("the request has {}", key);
  for (const Json& message : request.messages()) {
    const std::string& role = message["role"].get_ref<const std::string&>();
    if (role != "system" && role != "developer" && role != "user" && role != "assistant")
      return fmt::format("a message has the role '{}'", role);
    const auto content = message.find("content");
    if (role != "user" || content == message.end() || !content->is_array()) continue;
    for (const Json& part : *content)
      if (const auto type = part.find("type"); type == part.end() || *type != "text")
        return "a user message has content other than text";
  }
  return {};
}

bool calls_tools(const ChatRequest& request) {
  for (const Json& message : request.messages())
    if (has_role(message, "tool") || message.contains("tool_calls")) return true;
  return request.body.contains("tools");
}

bool has_parts_besides_text(const ChatRequest& request) {
  for (const Json& message : request.messages())
    if (member(message, "content").is_array()) return true;
  return false;
}

std::size_t place_of(const ChatRequest& request, std::size_t index) {
  return request.given_at.empty() ? index : request.given_at[index];
}

std::string message_id(const ChatRequest& request, std::size_t index) {
  return fmt::format("messages[{}]", place_of(request, index));
}

const render::Summary* summary_of(const ChatRequest& parts, const Additions& with) {
  return parts.compressed && !with.without_summary ? &parts.compressed->summary : nullptr;
}

Result<ChatRequest> read_chat(std::string_view request, std::string_view index) {
  ChatRequest parts;
  parts.text = request;
  TRY(parts.body, count::parse_request(request));
  if (!index.empty() && parts.body.is_object()) parts.body["index_name"] = index;
  TRY(parts.altered, join_asked_messages(parts.body));
  parts.altered = parts.altered || !index.empty();
  TRY_VOID(count::read_chat_content(parts.body));
  if (parts.body.is_array()) parts.body = Json{{"messages", std::move(parts.body)}};
  if (parts.messages().empty()) return fail(Errc::bad_input, "the request has no messages");
  divide(parts.messages(), parts);
  TRY_VOID(read_reserves(parts));
  TRY_VOID(read_ours(parts));
  const bool asks =
      std::ranges::any_of(parts.messages(), [](const Json& message) { return has_role(message, "user"); });
  if (!asks && !(parts.additions.passages.empty() && parts.additions.facts.empty()))
    return fail(Errc::bad_input, "passages and memories need a user message, and the request has none");
  TRY_VOID(read_answering(parts));
  return parts;
}

}  // namespace plimsoll::chat
