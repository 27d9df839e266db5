#include "engine/protect.hpp"

#include <algorithm>
#include <cmath>

#include "base/json_member.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "count/chat_body.hpp"
#include "count/chat_request.hpp"

namespace plimsoll::engine {
namespace {

using base::member;
using Json = nlohmann::ordered_json;
using base::with_thousands;

struct Counted {
  Tokens input = 0;
  Exactness exactness = Exactness::exact;
  std::string why;
};

// A prompt is a text, tokens, or a list of either, each of which is answered by itself: the longest counts.
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

Result<Counted> count_other(const Course& course, const PlanModel& model) {
  const Json& body = course.parts.body;
  if (course.ask.route != "/v1/responses")
    return Counted{prompt_tokens(member(body, "prompt"), model), model.exactness, model.why};
  TRY(const ChatCount counted, count::count_chat_body(model.tokenizer, chat_of_response(body), model.chat));
  Counted out{counted.total, worse(worse(model.exactness, counted.exactness), Exactness::calibrated),
              "counted as the chat that it stands for"};
  if (!member(body, "previous_response_id").is_null()) {
    out.exactness = Exactness::estimated;
    out.why = "what an earlier response brings with it is not known here";
  }
  return out;
}

const char* limit_field(const Course& course) {
  return course.ask.route == "/v1/responses" ? "max_output_tokens" : "max_tokens";
}

// What clients of llama.cpp and LM Studio send for "no limit".
constexpr double no_limit = -1;

// None where the request leaves it open. No limit means all the room there is.
Result<std::optional<Tokens>> asked_limit(const Course& course) {
  const Json& asked = member(course.parts.body, limit_field(course));
  if (asked.is_null()) return std::nullopt;
  const double number = asked.is_number() ? asked.get<double>() : 0.5;
  if (std::floor(number) != number)
    return fail(Errc::bad_input, "{} is not a whole number", limit_field(course));
  if (number == no_limit) return budget::most_tokens;
  if (number < 0)
    return fail(Errc::bad_input, "{} is {}; it must be 0 or more, or -1 for no limit", limit_field(course),
                static_cast<std::int64_t>(std::max(number, -1e15)));
  return static_cast<Tokens>(std::min(number, static_cast<double>(budget::most_tokens)));
}

// What a server takes where the request leaves it open: OpenAI's completions end after 16, a response when it
// is done.
Tokens limit_by_default(const Course& course, Tokens room) {
  constexpr Tokens of_completions = 16;
  return course.ask.route == "/v1/responses" ? room : std::min(room, of_completions);
}

// The same bytes but for one number.
std::string with_limit(Json body, const char* field, Tokens limit) {
  body[field] = limit;
  return base::json_text(body);
}

Json message_of(const Json& item) {
  const Json& type = member(item, "type");
  if (type == "function_call") {
    const Json call{{"id", member(item, "call_id")},
                    {"type", "function"},
                    {"function", {{"name", member(item, "name")}, {"arguments", member(item, "arguments")}}}};
    return {{"role", "assistant"}, {"content", nullptr}, {"tool_calls", Json::array({call})}};
  }
  if (type == "function_call_output")
    return {{"role", "tool"}, {"tool_call_id", member(item, "call_id")}, {"content", member(item, "output")}};
  const Json& content = member(item, "content");
  const Json& role = member(item, "role");
  std::string text = content.is_string() ? content.get<std::string>() : "";
  for (const Json& part : content.is_array() ? content : Json::array())
    if (const Json& said = member(part, "text"); said.is_string()) text += said.get_ref<const std::string&>();
  return {{"role", role.is_string() ? role : Json("user")}, {"content", std::move(text)}};
}

}  // namespace

std::string overflow_in_openais_words(Tokens window, Tokens messages, Tokens completion) {
  return fmt::format(
      "This model's maximum context length is {} tokens. However, you requested {} tokens ({} in the "
      "messages, "
      "{} in the completion).",
      window, messages + completion, messages, completion);
}

bool is_chat(const Course& course) {
  return course.ask.route == "/v1/chat/completions";
}

Result<std::string> model_named(const Json& body) {
  const Json& model = member(body, "model");
  if (model.is_null()) return std::string();
  if (!model.is_string())
    return fail(Errc::bad_input, "model is not a text: name one that GET /v1/models lists");
  return model.get<std::string>();
}

Json chat_of_response(const Json& body) {
  Json messages = Json::array();
  if (const Json& told = member(body, "instructions"); told.is_string())
    messages.push_back({{"role", "system"}, {"content", told}});
  const Json& input = member(body, "input");
  if (input.is_string()) messages.push_back({{"role", "user"}, {"content", input}});
  for (const Json& item : input.is_array() ? input : Json::array()) messages.push_back(message_of(item));
  Json chat{{"messages", std::move(messages)}};
  Json tools = Json::array();
  const Json& given = member(body, "tools");
  for (const Json& tool : given.is_array() ? given : Json::array())
    if (member(tool, "type") == "function") {
      Json function = tool;
      function.erase("type");
      tools.push_back({{"type", "function"}, {"function", std::move(function)}});
    }
  if (!tools.empty()) chat["tools"] = std::move(tools);
  if (const Json& format = member(member(body, "text"), "format"); format.is_object())
    chat["response_format"] = format;
  return chat;
}

Result<void> read_other(Engine& engine, Course& course) {
  TRY(course.parts.body, count::parse_request(course.ask.body));
  const Json& body = course.parts.body;
  if (!body.is_object()) return fail(Errc::bad_input, "the body of the request is not a JSON object");
  TRY(course.model, model_named(body));
  course.trace.asked_model = course.model;
  course.stream = member(body, "stream") == true;
  course.wants_usage = true;  // whatever the upstream says goes on
  TRY(course.berth, engine.models.fleet().find(course.model));
  return {};
}

Result<void> chart_other(Engine& engine, Course& course, const PlanModels& models) {
  Trace& trace = course.trace;
  trace.model = course.berth.model;
  trace.upstream = engine.models.fleet().members()[course.berth.member].name;
  TRY(const PlanModel model, models.open(course.model));
  if (course.model != course.berth.model && !course.berth.model.empty()) {
    course.parts.body["model"] = course.berth.model;
    course.body = base::json_text(course.parts.body);
    trace.changed = true;
  }
  trace.window = engine.models.unasked_window(course.berth, model.window.tokens);
  if (course.ask.route == "/v1/embeddings" || course.ask.route == "/api/embed") return {};
  TRY(const Counted counted, count_other(course, model));
  TRY(const std::optional<Tokens> asked, asked_limit(course));
  trace.input = counted.input;
  trace.exactness = counted.exactness;
  trace.margin = budget::margin_for(model.drift);
  const Tokens room = trace.window - trace.input - trace.margin;
  if (room < 1)
    return fail(Errc::over_budget,
                "Prompt length exceeds context window. {} The input has {} tokens ({}) and the margin is {}; "
                "{} has a "
                "window of {} ({}). Shorten the input, or choose a model with a larger window.",
                overflow_in_openais_words(trace.window, trace.input, 0), with_thousands(trace.input),
                name_of(counted.exactness), with_thousands(trace.margin), trace.model,
                with_thousands(trace.window), name_of(model.window.source));
  trace.answer = std::min(room, asked.value_or(limit_by_default(course, room)));
  if (asked && *asked > room) {
    course.body = with_limit(course.parts.body, limit_field(course), room);
    trace.changed = true;
    if (member(course.parts.body, limit_field(course)) == no_limit) return {};
    trace.warnings.push_back(fmt::format("{} is REDUCED from {} to {}: the window has no more",
                                         limit_field(course), with_thousands(*asked), with_thousands(room)));
  }
  return {};
}

}  // namespace plimsoll::engine
