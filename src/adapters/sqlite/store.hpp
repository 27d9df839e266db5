// The Store port over one SQLite file.
#pragma once

#include <filesystem>
#include <memory>

#include "adapters/sqlite/options.hpp"
#include "plimsoll/store.hpp"

namespace plimsoll::sqlite {

// Folders on the way are made. A file that may only be read is opened for reading; changing it is io_failed.
// Several processes may have the same store open: readers never wait, writers wait for each other.
Result<std::unique_ptr<Store>> open_store(const std::filesystem::path& file, const OpenOptions& options = {});

}  // namespace plimsoll::sqlite
