// Saves one index into a folder, as a store of its own that any Plimsoll can load.
#pragma once

#include <filesystem>
#include <string_view>

#include "plimsoll/store.hpp"

namespace plimsoll {

// Creates the folder. Replaces an earlier snapshot once the new one is complete.
Result<void> save_index(Store& store, const IndexInfo& info, const std::filesystem::path& folder);

// Loads the index for this owner and name atomically; replaces an index of that name. Fails with bad_input if
// the folder has no snapshot, with damaged if its checksum is wrong; then nothing is
// replaced.
Result<void> load_index(Store& store, const std::filesystem::path& folder, std::string_view owner,
                        std::string_view name);

// Removes the rows of interrupted loads.
void remove_half_loaded(Store& store);

}  // namespace plimsoll
