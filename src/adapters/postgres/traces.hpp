// The TraceStore port over PostgreSQL.
#pragma once

#include <memory>

#include "adapters/postgres/options.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll::postgres {

// One call removes at most `most_removed` traces beyond the limits.
Result<std::unique_ptr<TraceStore>> open_traces(const Options& options);
inline constexpr std::int64_t most_removed = 20'000;

}  // namespace plimsoll::postgres
