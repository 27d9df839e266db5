// The words of a fact as they are kept and as they stand in a prompt.
#pragma once

#include <string>
#include <string_view>

namespace plimsoll::memory {

// On one line, without control characters, with single spaces and none at the ends: nothing in it looks like
// the next line of a prompt.
std::string one_line(std::string_view text);

}  // namespace plimsoll::memory
