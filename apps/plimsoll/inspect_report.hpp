// Traces for people: many as a table, one as its plan is drawn, with what came of it.
#pragma once

#include <span>
#include <string>

#include "plimsoll/trace.hpp"
#include "terminal.hpp"

namespace plimsoll {

// One line each. Without a header the columns are as wide as with one, so that tables may follow each other.
std::string trace_table(std::span<const Trace> traces, const Terminal& terminal, bool header);

std::string trace_report(const Trace& trace, const Terminal& terminal);

}  // namespace plimsoll
