// Checks that the search data agrees with the store.
#pragma once

#include <string>
#include <vector>

#include "plimsoll/index.hpp"

namespace plimsoll::library {

// Returns one sentence per fault. Compares the number of chunks, and searches for a sample of them: every hit
// must exist, and a chunk must be found by its own vector and its own
// words.
Result<std::vector<std::string>> check_index(Store& store, const IndexInfo& info, const Index& index);

}  // namespace plimsoll::library
