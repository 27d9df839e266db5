// Counters since the start, for metrics. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

namespace plimsoll::engine {

struct Counters {
  using Count = std::atomic<std::uint64_t>;
  Count requests = 0;      // answered or refused
  Count untouched = 0;     // of these: forwarded byte for byte
  Count planned = 0;       // changed to fit, or by documents
  Count refused = 0;       // could not fit
  Count failed = 0;        // not answered for another reason
  Count fallbacks = 0;     // answered by a fallback model
  Count compressions = 0;  // histories partly replaced by a summary
  Count extracts = 0;      // extractive summaries
  Count overflows = 0;     // upstreams that reported a smaller window
  Count cuts = 0;          // prompts truncated by an upstream
  Count cut_tokens = 0;
  Count retries = 0;
};

}  // namespace plimsoll::engine
