// Scripts that complete commands, options and values in a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "describe/command_tree.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll {

// `shell`: bash, zsh or fish. bad_input: another one.
Result<std::string> completions_for(std::string_view shell, const std::vector<DescribedCommand>& commands);

}  // namespace plimsoll
