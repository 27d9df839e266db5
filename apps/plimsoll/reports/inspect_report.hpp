// Prints traces: several as a table, one in full with its plan and result.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "plimsoll/trace.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {

// Key names by owner id. Empty: there are no keys, and the column is left out.
using KeyNames = std::map<std::string, std::string, std::less<>>;

// Prints one line per trace. Column widths are the same without a header, so tables can follow each other.
std::string trace_table(std::span<const Trace> traces, const KeyNames& names, const Terminal& terminal,
                        bool header);

// Leaves out the warning that ends in `said`, which was already printed.
std::string trace_report(const Trace& trace, const KeyNames& names, const Terminal& terminal,
                         std::string_view said = {});

}  // namespace plimsoll
