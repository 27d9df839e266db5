// Settings of traces of requests.
#pragma once

#include <cstdint>
#include <span>

#include "base/settings/setting.hpp"

namespace plimsoll::ledger {

struct TraceSettings {
  std::int64_t trace_count = 10'000;
  std::int64_t trace_days = 30;
  std::int64_t trace_bytes = std::int64_t{256} << 20;
  bool keep_prompts = false;  // in traces
};

// Their names, allowed values and meanings.
std::span<const base::Setting> trace_settings();

}  // namespace plimsoll::ledger
