// The SessionStore port over the same SQLite file that holds the documents.
#pragma once

#include <filesystem>
#include <memory>

#include "adapters/sqlite/options.hpp"
#include "plimsoll/sessions.hpp"

namespace plimsoll::sqlite {

// Folders on the way are made. What was kept survives a power cut too.
Result<std::unique_ptr<SessionStore>> open_sessions(const std::filesystem::path& file,
                                                    const OpenOptions& options = {});

}  // namespace plimsoll::sqlite
