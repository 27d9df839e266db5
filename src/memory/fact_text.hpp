// The text of a fact as stored and as sent in a prompt.
#pragma once

#include <string>
#include <string_view>

namespace plimsoll::memory {

// Returns the text on one line, without control characters, with single spaces and none at the ends, so it
// cannot look like the next line of a prompt.
std::string one_line(std::string_view text);

}  // namespace plimsoll::memory
