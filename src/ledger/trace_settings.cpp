#include "ledger/trace_settings.hpp"

#include <array>

namespace plimsoll::ledger {

std::span<const base::Setting> trace_settings() {
  static const std::array declared{
      base::Setting{"trace_count", "", base::Whole{&TraceSettings::trace_count, 0, 100'000'000},
                    "Most traces kept."},
      base::Setting{"trace_days", "", base::Whole{&TraceSettings::trace_days, 0, 36'500},
                    "Days that a trace is kept."},
      base::Setting{"trace_bytes", "", base::Whole{&TraceSettings::trace_bytes, 0, std::int64_t{1} << 40},
                    "Most bytes of traces kept."},
      base::Setting{"keep_prompts", "", base::Flag{&TraceSettings::keep_prompts},
                    "Keep the text of requests and passages in traces."},
  };
  return declared;
}

}  // namespace plimsoll::ledger
