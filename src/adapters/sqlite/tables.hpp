// The tables of a file for copying it into another store, or another into it.
#pragma once

#include <filesystem>
#include <memory>

#include "adapters/sqlite/options.hpp"
#include "base/copy/copy_tables.hpp"

namespace plimsoll::sqlite {

Result<std::unique_ptr<base::TableRows>> open_tables(const std::filesystem::path& file,
                                                     const OpenOptions& options);

}  // namespace plimsoll::sqlite
