// The KeyStore port over the same SQLite file that holds the documents.
#pragma once

#include <filesystem>
#include <memory>

#include "adapters/sqlite/options.hpp"
#include "plimsoll/keys.hpp"

namespace plimsoll::sqlite {

// Folders on the way are made; a file that may only be read is opened for reading.
Result<std::unique_ptr<KeyStore>> open_keys(const std::filesystem::path& file,
                                            const OpenOptions& options = {});

// Rows of usage with numbers that no honest server reports, by day and owner. They count as the most that is
// possible, or as nothing. The file is there.
struct FalseUsage {
  std::int64_t day = 0;  // since 1970, UTC
  std::string owner;
  Tokens tokens = 0;
};
Result<std::vector<FalseUsage>> find_false_usage(const std::filesystem::path& file);

}  // namespace plimsoll::sqlite
