// Checks the cost of parsing a JSON text before parsing it: parsers are recursive, and ordered objects look
// keys up linearly. Also finds NUL characters, which the parser would take for the end of the
// text.
#pragma once

#include <string_view>

#include "plimsoll/result.hpp"

namespace plimsoll::base {

// bad_input: `what` ("the request") is nested more than 100 deep, an object has more than 1,024 keys, or
// there is a NUL.
Result<void> check_json_shape(std::string_view text, std::string_view what);

}  // namespace plimsoll::base
