// The schema version of traces.
#pragma once

namespace plimsoll::ledger {

// Fields may be added within a schema, but never change their meaning.
inline constexpr int trace_schema = 1;

}  // namespace plimsoll::ledger
