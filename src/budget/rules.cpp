#include <algorithm>
#include <cmath>

#include "base/text/text.hpp"
#include "plimsoll/budget.hpp"

namespace plimsoll::budget {
namespace {

using base::with_thousands;

constexpr Tokens rule_margin = 100;            // kept free by budgeted chat besides the answer
constexpr Tokens average_message = 250;        // cost of a message that budgeted chat assumes
constexpr Tokens budgeted_chat_window = 8192;  // default, for that rule only

}  // namespace

Tokens share_of(Tokens tokens, double ratio) {
  constexpr std::int64_t million = 1'000'000;
  const std::int64_t parts = std::llround(ratio * static_cast<double>(million));
  return tokens / million * parts + tokens % million * parts / million;
}

RetrievalRoom retrieval_room(Tokens window, Tokens system, Tokens query, Tokens history,
                             const RetrievalRule& rule) {
  RetrievalRoom found;
  found.usable = share_of(window, rule.safety_margin);
  found.overhead = system + query + history + rule.generation_buffer;
  found.room = std::max<Tokens>(0, found.usable - found.overhead);
  if (found.room == 0) return found;
  const std::int64_t average = std::max<Tokens>(1, rule.average_chunk);
  found.top_k = std::clamp(found.room / average, rule.min_top_k, std::max(rule.min_top_k, rule.max_top_k));
  found.max_chunk_tokens = found.top_k > 0 ? found.room / found.top_k : 0;
  return found;
}

Tokens fair_context(Tokens window) {
  return std::min(usual_context, window / 4);
}

AdjustedAnswer adjusted_max_tokens(Tokens window, Tokens input, Tokens requested) {
  const Tokens tokens = std::max(least_answer, std::min(requested, window - input - rule_margin));
  return {tokens, tokens < requested};
}

std::int64_t safe_message_count(std::optional<Tokens> window) {
  return std::max<Tokens>(0, window.value_or(budgeted_chat_window)) / average_message;
}

Result<Tokens> context_budget(Tokens window, Tokens query, std::optional<Tokens> max_tokens, double ratio,
                              Tokens prompt_overhead) {
  if (!(ratio >= 0.2 && ratio <= 0.8))
    return fail(Errc::bad_input, "context_token_ratio is {}, not from 0.2 to 0.8", ratio);
  const Tokens left = window - query - prompt_overhead;
  return share_of(std::max<Tokens>(0, std::min(max_tokens.value_or(window), left)), ratio);
}

Result<AdjustedAnswer> answer_within(Tokens window, Tokens prompt, Tokens requested) {
  if (prompt >= window)
    return fail(Errc::over_budget,
                "Prompt length exceeds context window. The prompt has {} tokens, the window {}.",
                with_thousands(prompt), with_thousands(window));
  const Tokens tokens = std::min(requested, window - prompt);
  return AdjustedAnswer{tokens, tokens < requested};
}

Tokens margin_for(const Drift& drift) {
  if (drift.embedded) return 0;
  if (!drift.seen) return 100;
  return drift.worst == 0 ? 50 : std::max<Tokens>(200, drift.worst);
}

}  // namespace plimsoll::budget
