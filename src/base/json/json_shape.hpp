// What a JSON text would cost to read, found without reading it: parsers walk it by recursion, and objects
// that keep their order look a key up by going through the others. A NUL is found too: the parser would take
// it for the end of the text and leave the rest unread.
#pragma once

#include <string_view>

#include "plimsoll/result.hpp"

namespace plimsoll::base {

// bad_input where `what` ("the request") is nested more than 100 deep, an object has more than 1,024 keys, or
// there is a NUL.
Result<void> check_json_shape(std::string_view text, std::string_view what);

}  // namespace plimsoll::base
