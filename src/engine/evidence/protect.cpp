#include "engine/evidence/protect.hpp"

#include <algorithm>
#include <cmath>

#include "base/json/json_member.hpp"
#include "base/json/json_text.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "count/chat/chat_body.hpp"
#include "count/chat/chat_request.hpp"
#include "engine/response_chat.hpp"

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

Result<Counted> count_other(const RequestState& state, const PlanModel& model) {
  const Json& body = state.parts.body;
  if (state.ask.route != "/v1/responses")
    return Counted{prompt_tokens(member(body, "prompt"), model), model.exactness, model.why};
  TRY(const ChatCount counted,
      count::count_chat_body(model.tokenizer, chat_of_response(body, items_of_input(member(body, "input"))),
                             model.chat));
  Counted out{counted.total, worse(worse(model.exactness, counted.exactness), Exactness::calibrated),
              "counted as the equivalent chat"};
  if (!member(body, "previous_response_id").is_null()) {
    out.exactness = Exactness::estimated;
    out.why = "the earlier response that it continues is not known here";
  }
  return out;
}

const char* limit_field(const RequestState& state) {
  return state.ask.route == "/v1/responses" ? "max_output_tokens" : "max_tokens";
}

// Clients of llama.cpp and LM Studio send this for "no limit".
constexpr double no_limit = -1;

// None: not in the request. No limit means all the room.
Result<std::optional<Tokens>> asked_limit(const RequestState& state) {
  const Json& asked = member(state.parts.body, limit_field(state));
  if (asked.is_null()) return std::nullopt;
  const double number = asked.is_number() ? asked.get<double>() : 0.5;
  if (std::floor(number) != number)
    return fail(Errc::bad_input, "{} is not a whole number", limit_field(state));
  if (number == no_limit) return budget::most_tokens;
  if (number < 0)
    return fail(Errc::bad_input, "{} is {}; it must be 0 or more, or -1 for no limit", limit_field(state),
                static_cast<std::int64_t>(std::max(number, -1e15)));
  return static_cast<Tokens>(std::min(number, static_cast<double>(budget::most_tokens)));
}

// Returns the server's default limit: 16 for OpenAI's completions, all the room for a
// response.
Tokens limit_by_default(const RequestState& state, Tokens room) {
  constexpr Tokens of_completions = 16;
  return state.ask.route == "/v1/responses" ? room : std::min(room, of_completions);
}

// Returns the body with this limit.
std::string with_limit(Json body, const char* field, Tokens limit) {
  body[field] = limit;
  return base::json_text(body);
}

}  // namespace

std::string overflow_in_openais_words(Tokens window, Tokens messages, Tokens completion) {
  return fmt::format(
      "This model's maximum context length is {} tokens. However, you requested {} tokens ({} in the "
      "messages, "
      "{} in the completion).",
      window, messages + completion, messages, completion);
}

bool is_chat(const RequestState& state) {
  return state.ask.route == "/v1/chat/completions";
}

Result<std::string> model_named(const Json& body) {
  const Json& model = member(body, "model");
  if (model.is_null()) return std::string();
  if (!model.is_string())
    return fail(Errc::bad_input, "model is not a string; use a name from GET /v1/models");
  return model.get<std::string>();
}

Result<void> read_other(Engine& engine, RequestState& state) {
  TRY(state.parts.body, count::parse_request(state.ask.body));
  const Json& body = state.parts.body;
  if (!body.is_object()) return fail(Errc::bad_input, "the request body is not a JSON object");
  TRY(state.model, model_named(body));
  state.trace.asked_model = state.model;
  state.stream = member(body, "stream") == true;
  state.wants_usage = true;  // the upstream's usage is always passed on
  TRY(state.location, engine.models.upstreams().find(state.model));
  return {};
}

Result<void> plan_other(Engine& engine, RequestState& state, const PlanModels& models) {
  Trace& trace = state.trace;
  trace.model = state.location.model;
  trace.upstream = engine.models.upstreams().members()[state.location.member].name;
  TRY(const PlanModel model, models.open(state.model));
  if (state.model != state.location.model && !state.location.model.empty()) {
    state.parts.body["model"] = state.location.model;
    state.body = base::json_text(state.parts.body);
    trace.changed = true;
  }
  trace.window = engine.models.unasked_window(state.location, model.window.tokens);
  if (state.ask.route == "/v1/embeddings" || state.ask.route == "/api/embed") return {};
  TRY(const Counted counted, count_other(state, model));
  TRY(const std::optional<Tokens> asked, asked_limit(state));
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
  trace.answer = std::min(room, asked.value_or(limit_by_default(state, room)));
  if (asked && *asked > room) {
    state.body = with_limit(state.parts.body, limit_field(state), room);
    trace.changed = true;
    if (member(state.parts.body, limit_field(state)) == no_limit) return {};
    trace.warnings.push_back(fmt::format("{} is REDUCED from {} to {}: the window has no more room",
                                         limit_field(state), with_thousands(*asked), with_thousands(room)));
  }
  return {};
}

}  // namespace plimsoll::engine
