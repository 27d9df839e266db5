// Whether what is derived from a store agrees with it.
#pragma once

#include <string>
#include <vector>

#include "plimsoll/index.hpp"

namespace plimsoll::library {

// Every fault found, as a sentence each. All living chunks are compared by number, some of them by being
// searched for: whatever is found must live, and a chunk must find itself by its own vector and its own
// words.
Result<std::vector<std::string>> check_index(Store& store, const IndexInfo& info, const Index& index);

}  // namespace plimsoll::library
