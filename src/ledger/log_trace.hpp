// One line of the log about a request.
#pragma once

#include "plimsoll/trace.hpp"

namespace plimsoll::ledger {

// At debug level.
void log_trace(const Trace& trace);

}  // namespace plimsoll::ledger
