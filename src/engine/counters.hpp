// What happened since the start, in numbers for whoever watches. Any thread adds.
#pragma once

#include <atomic>
#include <cstdint>

namespace plimsoll::engine {

struct Counters {
  using Count = std::atomic<std::uint64_t>;
  Count requests = 0;      // that were answered or refused
  Count untouched = 0;     // of these: went through byte for byte
  Count planned = 0;       // were changed to fit, or by documents
  Count refused = 0;       // could not fit
  Count failed = 0;        // got no answer for another reason
  Count fallbacks = 0;     // were answered by a larger model
  Count compressions = 0;  // of a history, a part of which a summary stood for
  Count extracts = 0;      // summaries that no model wrote
  Count overflows = 0;     // an upstream's word that its window is smaller
  Count cuts = 0;          // an upstream left out a part of the prompt
  Count cut_tokens = 0;
  Count retries = 0;
};

}  // namespace plimsoll::engine
