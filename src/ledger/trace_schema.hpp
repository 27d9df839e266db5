// What writing and reading a trace agree on.
#pragma once

namespace plimsoll::ledger {

// Fields may be added within a schema; none changes its meaning.
inline constexpr int trace_schema = 1;

}  // namespace plimsoll::ledger
