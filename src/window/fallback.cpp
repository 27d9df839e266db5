#include "plimsoll/fallback.hpp"

#include <fmt/format.h>

#include "base/text/text.hpp"

namespace plimsoll {
namespace {

using base::with_thousands;

std::string why_none(const FallbackAsk& ask, const FallbackDecision& decision) {
  const std::string need =
      fmt::format("{} tokens are wanted, over 90 % ({}) of the window of {}", with_thousands(ask.total),
                  with_thousands(decision.threshold), ask.current);
  if (!ask.enabled) return need + "; fallback is off (LLM_FALLBACK_ENABLED)";
  if (ask.allowed.empty()) return need + "; no fallback is allowed (LLM_ALLOWED_FALLBACK_MODELS is empty)";
  return fmt::format("{}; no allowed and served model has the required {} tokens", need,
                     with_thousands(decision.required));
}

}  // namespace

Tokens fallback_total(Tokens message_tokens, Tokens buffer) {
  return message_tokens + buffer;
}

FallbackDecision choose_fallback(const FallbackAsk& ask, const WindowOf& window_of, const SameModel& same,
                                 const ServedAs& served_as) {
  FallbackDecision decision;
  decision.from = ask.current;
  decision.from_window = ask.window;
  decision.total = ask.total;
  decision.threshold = ask.window * 9 / 10;
  decision.needed = ask.total > decision.threshold;
  decision.compression_due = ask.total > ask.window * ask.compress_above_pct / 100;
  if (!decision.needed) {
    decision.reason = fmt::format("{} tokens are wanted, {} are 90 % of the window: {} stays",
                                  with_thousands(ask.total), with_thousands(decision.threshold), ask.current);
    return decision;
  }
  decision.required = ask.total * 11 / 10;
  for (const std::string& model : ask.enabled ? ask.allowed : std::vector<std::string>{}) {
    FallbackCandidate candidate{model, 0, {}};
    const std::optional<std::string> name = served_as ? served_as(model) : model;
    if (same(model, ask.current) || (name && same(*name, ask.current))) {
      candidate.window = ask.window;
      candidate.verdict = "is the current model";
    } else if (!name) {
      candidate.verdict = "no upstream lists it";
    } else if (const auto window = window_of(*name); !window) {
      candidate.verdict = "its window is not known";
    } else {
      candidate.window = *window;
      const bool enough = *window >= decision.required;
      candidate.verdict = fmt::format("its window of {} {} the {} required", with_thousands(*window),
                                      enough ? "fits" : "is below", with_thousands(decision.required));
      if (enough) {
        decision.to = *name;
        decision.to_window = *window;
      }
    }
    decision.considered.push_back(std::move(candidate));
    if (!decision.to.empty()) break;
  }
  decision.reason = decision.to.empty()
                        ? why_none(ask, decision)
                        : fmt::format(
                              "{} tokens are wanted, over 90 % ({}) of the window of {}: falling back to {}, "
                              "whose window is {}",
                              with_thousands(ask.total), with_thousands(decision.threshold), ask.current,
                              decision.to, with_thousands(decision.to_window));
  return decision;
}

FallbackDecision choose_fallback(const FallbackAsk& ask, const ModelCatalogue& catalogue) {
  const auto card_of = [&](std::string_view model) -> const ModelCard* {
    const auto found = catalogue.find(model);
    return found ? found->card : nullptr;
  };
  return choose_fallback(
      ask,
      [&](std::string_view model) -> std::optional<Tokens> {
        const ModelCard* card = card_of(model);
        return card != nullptr ? std::optional(card->window) : std::nullopt;
      },
      [&](std::string_view a, std::string_view b) {
        const ModelCard* card = card_of(a);
        return a == b || (card != nullptr && card == card_of(b));
      });
}

}  // namespace plimsoll
