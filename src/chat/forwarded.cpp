#include "chat/forwarded.hpp"

#include <algorithm>
#include <cmath>

#include "base/json/json_member.hpp"
#include "base/try.hpp"
#include "chat/response_chat.hpp"
#include "chat/write_chat.hpp"
#include "count/chat/chat_body.hpp"
#include "count/chat/chat_content.hpp"

namespace plimsoll::chat {
namespace {

using base::member;
using Json = nlohmann::ordered_json;

// A prompt is a text, tokens, or a list of either, each answered separately: counts the longest.
Tokens prompt_tokens(const Json& prompt, const PlanModel& model) {
  if (prompt.is_string())
    return model.tokenizer.count(prompt.get_ref<const std::string&>(), model.chat.specials) +
           (model.tokenizer.info().adds_bos ? 1 : 0);
  if (!prompt.is_array() || prompt.empty()) return 0;
  if (prompt.front().is_number()) return static_cast<Tokens>(prompt.size());
  Tokens longest = 0;
  for (const Json& one : prompt) longest = std::max(longest, prompt_tokens(one, model));
  return longest;
}

}  // namespace

Result<ChatRequest> read_forwarded(RequestKind kind, std::string_view text) {
  ChatRequest request;
  request.kind = kind;
  request.text = text;
  TRY(request.body, count::parse_request(text));
  if (!request.body.is_object()) return fail(Errc::bad_input, "the request body is not a JSON object");
  const Json& index = member(request.body, "index_name");
  if (kind == RequestKind::completion && index.is_string() && !index.get_ref<const std::string&>().empty())
    return fail(Errc::bad_input,
                "index_name needs messages, and /v1/completions has none: ask /v1/chat/completions, or leave "
                "index_name out");
  TRY(request.model, model_named(request.body));
  request.streams = member(request.body, "stream") == true;
  request.wants_usage = true;  // the upstream's usage is always passed on
  return request;
}

bool is_counted(const ChatRequest& request) {
  return request.kind != RequestKind::embedding && request.kind != RequestKind::ollama_embedding;
}

Result<ForwardedCount> count_forwarded(const ChatRequest& request, const PlanModel& model) {
  const Json& body = request.body;
  if (request.kind != RequestKind::response)
    return ForwardedCount{prompt_tokens(member(body, "prompt"), model), model.exactness, model.why};
  TRY(const ChatCount counted,
      count::count_chat_body(model.tokenizer, chat_of_response(body, items_of_input(member(body, "input"))),
                             model.chat));
  ForwardedCount out{counted.total, worse(worse(model.exactness, counted.exactness), Exactness::calibrated),
                     "counted as the equivalent chat"};
  if (!member(body, "previous_response_id").is_null()) {
    out.exactness = Exactness::estimated;
    out.why = "the earlier response that it continues is not known here";
  }
  return out;
}

Result<AnswerLimit> answer_limit(const ChatRequest& request) {
  constexpr double no_limit = -1;  // as clients of llama.cpp and LM Studio say it
  AnswerLimit limit{limit_field(request.kind), std::nullopt};
  const Json& asked = member(request.body, limit.field.data());
  if (asked.is_null()) return limit;
  const double number = asked.is_number() ? asked.get<double>() : 0.5;
  if (std::floor(number) != number) return fail(Errc::bad_input, "{} is not a whole number", limit.field);
  limit.is_unlimited = number == no_limit;
  if (number < 0 && !limit.is_unlimited)
    return fail(Errc::bad_input, "{} is {}; it must be 0 or more, or -1 for no limit", limit.field,
                static_cast<std::int64_t>(std::max(number, -1e15)));
  limit.wanted = limit.is_unlimited
                     ? budget::most_tokens
                     : static_cast<Tokens>(std::min(number, static_cast<double>(budget::most_tokens)));
  return limit;
}

Tokens limit_by_default(RequestKind kind, Tokens room) {
  constexpr Tokens of_completions = 16;
  return kind == RequestKind::response ? room : std::min(room, of_completions);
}

}  // namespace plimsoll::chat
