// The manual page of the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "describe/command_tree.hpp"

namespace plimsoll {

// Returns plimsoll(1) as troff with the man macros.
std::string man_page(const std::vector<DescribedCommand>& commands, std::string_view version);

}  // namespace plimsoll
