// Runs another program in this terminal, with variables added to its environment.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plimsoll/result.hpp"

namespace plimsoll {

using Variables = std::map<std::string, std::string>;

// Its exit status, or 128 and the number of the signal that ended it, as shells have it. What the terminal
// sends to both (Ctrl-C) is left to the program. not_found: there is no such program.
Result<int> run_program(const std::vector<std::string>& command, const Variables& variables);

}  // namespace plimsoll
