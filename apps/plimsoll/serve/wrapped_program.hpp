// Runs another program in this terminal, with variables added to its environment.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plimsoll/result.hpp"

namespace plimsoll {

using Variables = std::map<std::string, std::string>;

// Returns its exit status, or 128 plus the number of the signal that ended it, as shells do. Signals that the
// terminal sends to both (Ctrl-C) are left to the program. not_found: no such program.
Result<int> run_program(const std::vector<std::string>& command, const Variables& variables);

}  // namespace plimsoll
