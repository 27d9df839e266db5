// Moving to a model with a larger window before a request is bound to one that is too small.
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

// F1 as it is known elsewhere: messages, and 35,000 for the system prompt and the answer. A plan has the real
// figures instead.
Tokens fallback_total(Tokens message_tokens, Tokens buffer = 35'000);

struct FallbackAsk {
  std::string current;  // the model that the request names
  Tokens window = 0;    // its window
  Tokens total = 0;     // everything that is wanted: input whole, thinking and answer
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
  std::string to;                // as its server lists it; empty: the model stays
  bool needed = false;           // total > threshold
  bool compression_due = false;  // total > compress_above_pct of the window: history should be compressed
  Tokens total = 0;
  Tokens threshold = 0;                       // floor(0.90 * window)
  Tokens required = 0;                        // floor(1.1 * total); 0 where no fallback is needed
  std::vector<FallbackCandidate> considered;  // with the one that was taken, up to it
  std::string reason;                         // a sentence with the numbers
  Tokens from_window = 0;
  Tokens to_window = 0;  // of the one that was taken
};

// `window_of`: what is known of a candidate's window; nothing for an unknown one. `same` tells whether two
// names mean one model. `served_as`: the name that a server lists a candidate under, or nothing where none
// does; left out, every candidate is taken to be served.
using WindowOf = std::function<std::optional<Tokens>(std::string_view model)>;
using SameModel = std::function<bool(std::string_view a, std::string_view b)>;
using ServedAs = std::function<std::optional<std::string>(std::string_view model)>;
FallbackDecision choose_fallback(const FallbackAsk& ask, const WindowOf& window_of, const SameModel& same,
                                 const ServedAs& served_as = {});

// By the catalogue alone; names match as D3 has it.
FallbackDecision choose_fallback(const FallbackAsk& ask, const ModelCatalogue& catalogue);

}  // namespace plimsoll
