// Chooses a model with a larger window when a request is too large for its model.
//
// Pure. Rules F1 to F3 of docs/rules.md.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/models.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll {

// F1 as other programs define it: the messages plus 35,000 for system prompt and answer. A plan uses the real
// numbers instead.
Tokens fallback_total(Tokens message_tokens, Tokens buffer = 35'000);

struct FallbackAsk {
  std::string current;  // the model of the request
  Tokens window = 0;    // its window
  Tokens total = 0;     // whole input, thinking and answer
  bool enabled = false;
  std::vector<std::string> allowed;  // in the order of preference
  std::int64_t compress_above_pct = 85;
};

struct FallbackCandidate {
  std::string model;
  Tokens window = 0;  // 0: not known
  std::string verdict;
};

struct FallbackDecision {
  std::string from;
  std::string to;                // as listed by its server; empty: the model stays
  bool needed = false;           // total > threshold
  bool compression_due = false;  // total > compress_above_pct of the window: history should be compressed
  Tokens total = 0;
  Tokens threshold = 0;                       // floor(0.90 * window)
  Tokens required = 0;                        // floor(1.1 * total); 0: no fallback is needed
  std::vector<FallbackCandidate> considered;  // up to and including the chosen one
  std::string reason;                         // a sentence with the numbers
  Tokens from_window = 0;
  Tokens to_window = 0;  // of the chosen one
};

// `window_of`: the window of a candidate; none: not known. `same`: whether two names mean the same
// model. `served_as`: the name under which a server lists a candidate; none: no server lists it. Without
// `served_as`, every candidate counts as served.
using WindowOf = std::function<std::optional<Tokens>(std::string_view model)>;
using SameModel = std::function<bool(std::string_view a, std::string_view b)>;
using ServedAs = std::function<std::optional<std::string>(std::string_view model)>;
FallbackDecision choose_fallback(const FallbackAsk& ask, const WindowOf& window_of, const SameModel& same,
                                 const ServedAs& served_as = {});

// Uses only the catalogue; names match by rule D3.
FallbackDecision choose_fallback(const FallbackAsk& ask, const ModelCatalogue& catalogue);

}  // namespace plimsoll
