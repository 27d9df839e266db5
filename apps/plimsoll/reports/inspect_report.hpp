// Traces for people: many as a table, one as its plan is drawn, with what came of it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "plimsoll/trace.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {

// By the owners that they are. Empty: there are no keys, and nothing is said of them.
using KeyNames = std::map<std::string, std::string, std::less<>>;

// One line each. Without a header the columns are as wide as with one, so that tables may follow each other.
std::string trace_table(std::span<const Trace> traces, const KeyNames& names, const Terminal& terminal,
                        bool header);

// Leaves out the warning that ends in `said`, which the reader has seen already.
std::string trace_report(const Trace& trace, const KeyNames& names, const Terminal& terminal,
                         std::string_view said = {});

}  // namespace plimsoll
