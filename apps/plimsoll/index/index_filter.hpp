// KEY=VALUE as the command line has it, for metadata and for filters on it.
#pragma once

#include <string>
#include <vector>

#include "plimsoll/document.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll {

// A value that is a JSON number, true, false or null is taken as that; everything else is a text. bad_input:
// no "=".
Result<Metadata> read_filters(const std::vector<std::string>& assignments);

}  // namespace plimsoll
