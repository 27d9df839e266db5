// The KeyStore port over the same SQLite file that holds the documents.
#pragma once

#include <filesystem>
#include <memory>

#include "plimsoll/keys.hpp"

namespace plimsoll::sqlite {

struct KeysOptions {
  bool create = true;  // false: not_found where there is no file
};

// Folders on the way are made; a file that may only be read is opened for reading.
Result<std::unique_ptr<KeyStore>> open_keys(const std::filesystem::path& file,
                                            const KeysOptions& options = {});

}  // namespace plimsoll::sqlite
