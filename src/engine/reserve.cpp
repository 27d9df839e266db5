// Reserves a plan's tokens from its owner's limits before it is sent.
#include <algorithm>

#include "base/json/json_member.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "engine/evidence/protect.hpp"
#include "engine/request_state.hpp"

namespace plimsoll::engine {
namespace {

using base::member;
using Json = nlohmann::ordered_json;

bool names_limit(const RequestState& state) {
  if (is_chat(state)) return state.parts.max_tokens.has_value();
  if (state.ask.route != "/v1/responses") return true;  // by default the server stops after a few tokens
  const Json& limit = member(state.parts.body, "max_output_tokens");
  return limit.is_number() && limit.get<double>() >= 0;
}

// Returns the number of requested answers (`n`).
Tokens answers_wanted(const Json& body) {
  constexpr double most = 100'000;
  double wanted = 1;
  for (const char* field : {"n", "best_of"})
    if (const Json& number = member(body, field); number.is_number())
      wanted = std::max(wanted, std::min(most, number.get<double>()));
  const Json& prompts = member(body, "prompt");
  if (prompts.is_array() && !prompts.empty() && !prompts.front().is_number())
    wanted *= static_cast<double>(std::min<std::size_t>(prompts.size(), 1'000));
  return static_cast<Tokens>(wanted);
}

Need need_of(const RequestState& state) {
  const Trace& trace = state.trace;
  // Embedding input is not counted, and of several prompts only the longest is.
  const bool counted = is_chat(state) || state.ask.route == "/v1/responses";
  const Tokens estimate = counted ? 0 : estimated_tokens(state.ask.body.size());
  return {std::max(trace.input, estimate), (trace.thinking + trace.answer) * answers_wanted(state.parts.body),
          !names_limit(state)};
}

// Lowers the limit in the request, so that the server enforces it.
void limit_answer(RequestState& state, Tokens answer) {
  Trace& trace = state.trace;
  Json body = base::parse_json(state.outgoing());
  if (!body.is_object()) return;
  body[is_chat(state) ? "max_tokens" : "max_output_tokens"] = answer;
  state.body = base::json_text(body);
  trace.answer = answer;
  trace.changed = true;
  trace.warnings.push_back(
      fmt::format("the answer is limited to {} tokens by what is left of the key's "
                  "daily budget",
                  base::with_thousands(answer)));
}

}  // namespace

std::optional<Refusal> reserve(Engine& engine, RequestState& state) {
  if (!engine.reserve || !state.ask.caller.metered) return std::nullopt;
  state.reserved.reset();
  const Need need = need_of(state);
  state.allowed_answer = need.answer;
  auto share = engine.reserve(state.ask.caller.owner, need);
  if (!share) return std::move(share).error();
  state.reserved = std::move(share->held);
  if (share->answer < need.answer) {
    const Tokens each = share->answer / answers_wanted(state.parts.body) - state.trace.thinking;
    limit_answer(state, std::max<Tokens>(1, each));
  }
  return std::nullopt;
}

}  // namespace plimsoll::engine
