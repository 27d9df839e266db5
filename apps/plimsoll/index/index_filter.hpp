// Parses KEY=VALUE from the command line, for metadata and filters.
#pragma once

#include <string>
#include <vector>

#include "plimsoll/document.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll {

// A value that is a JSON number, true, false or null keeps that type; everything else is text. bad_input:
// no "=".
Result<Metadata> read_filters(const std::vector<std::string>& assignments);

}  // namespace plimsoll
