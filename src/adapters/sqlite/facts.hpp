// The FactStore port over the same SQLite file that holds the documents.
#pragma once

#include <filesystem>
#include <memory>

#include "adapters/sqlite/options.hpp"
#include "plimsoll/memory.hpp"

namespace plimsoll::sqlite {

// Folders on the way are made; a file that may only be read is opened for reading. What was kept survives a
// power cut too.
Result<std::unique_ptr<FactStore>> open_facts(const std::filesystem::path& file,
                                              const OpenOptions& options = {});

}  // namespace plimsoll::sqlite
