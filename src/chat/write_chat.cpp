#include "chat/write_chat.hpp"

#include <algorithm>

#include "base/json/json_member.hpp"
#include "base/json/json_text.hpp"

namespace plimsoll::chat {
namespace {

using base::member;
using Json = nlohmann::ordered_json;

}  // namespace

const char* limit_field(RequestKind kind) {
  return kind == RequestKind::response ? "max_output_tokens" : "max_tokens";
}

bool is_plain(const ChatRequest& request, std::string_view model) {
  for (const char* ours : {"plimsoll", "index_name", "context_token_ratio"})
    if (request.body.contains(ours)) return false;
  return base::text_in(request.body, "model") == model;
}

std::string bound_body(Json body, const Plan& plan) {
  body.erase("context_token_ratio");
  body.erase("index_name");
  if (body.contains("model")) body["model"] = plan.model;
  const bool newer = body.contains("max_completion_tokens");
  if (newer || body.contains("max_tokens") || plan.requested_answer)
    body[newer ? "max_completion_tokens" : "max_tokens"] = plan.answer;
  if (newer) body.erase("max_tokens");
  for (const auto& [field, key] : {std::pair{"thinking", "budget_tokens"}, {"reasoning", "max_tokens"}})
    if (body.contains(field) && body[field].is_object() && body[field].contains(key))
      body[field][key] = plan.thinking;
  return base::json_text(body);
}

std::string with_model(Json body, std::string_view model) {
  body["model"] = model;
  return base::json_text(body);
}

std::string with_limit(Json body, RequestKind kind, Tokens limit) {
  body[limit_field(kind)] = limit;
  return base::json_text(body);
}

bool may_ask_for_usage(const ChatRequest& request) {
  return request.streams && !request.wants_usage && !request.body.contains("stream_options");
}

void ask_for_usage(std::string& body) {
  if (const std::size_t open = body.find('{'); open != std::string::npos)
    body.insert(open + 1, R"("stream_options":{"include_usage":true},)");
}

namespace {

// Of a completion: one if it is a text or tokens.
std::size_t prompts_in(const ChatRequest& request) {
  const Json& prompts = member(request.body, "prompt");
  return prompts.is_array() && !prompts.empty() && !prompts.front().is_number() ? prompts.size() : 1;
}

}  // namespace

Tokens answers_wanted(const ChatRequest& request) {
  constexpr double most = 100'000;
  double wanted = 1;
  for (const char* field : {"n", "best_of"})
    if (const Json& number = member(request.body, field); number.is_number())
      wanted = std::max(wanted, std::min(most, number.get<double>()));
  wanted *= static_cast<double>(std::min<std::size_t>(prompts_in(request), 1'000'000));
  return static_cast<Tokens>(wanted);
}

bool has_uncounted_input(const ChatRequest& request) {
  return prompts_in(request) > 1 || !member(request.body, "previous_response_id").is_null();
}

Json one_question(std::string_view model, std::string_view prompt, Tokens max_tokens) {
  Json message{{"role", "user"}, {"content", prompt}};
  return {{"model", model},
          {"messages", Json::array({std::move(message)})},
          {"max_tokens", max_tokens},
          {"temperature", 0},
          {"stream", false}};
}

}  // namespace plimsoll::chat
