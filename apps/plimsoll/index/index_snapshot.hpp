// An index by itself in a folder: a store that holds it alone, and that any Plimsoll can load.
#pragma once

#include <filesystem>
#include <string_view>

#include "plimsoll/store.hpp"

namespace plimsoll {

// The folder is made. What was there before gives way when the new one is whole.
Result<void> save_index(Store& store, const IndexInfo& info, const std::filesystem::path& folder);

// The index of the folder becomes that owner's, under that name, as one step; one that was there gives way.
// bad_input where the folder holds no snapshot, damaged where it is not as it was saved: then nothing is
// replaced.
Result<void> load_index(Store& store, const std::filesystem::path& folder, std::string_view owner,
                        std::string_view name);

// Of loads that were broken off.
void remove_half_loaded(Store& store);

}  // namespace plimsoll
