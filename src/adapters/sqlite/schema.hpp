// The tables of the store, and how an older store comes up to them.
#pragma once

#include <filesystem>
#include <string_view>

#include "adapters/sqlite/database.hpp"

namespace plimsoll::sqlite {

// The version that this program writes; `PRAGMA user_version` of the file.
inline constexpr std::int64_t schema_version = 4;

// Makes the tables where there are none, and brings older ones up, in one transaction. unsupported: the file
// was written by a newer program.
Result<void> migrate(Connection& connection);

// Whether the file is there; where it is not and may be made, its folder is. not_found says how to come by
// one.
Result<bool> find_file(const std::filesystem::path& file, bool create, std::string_view how_to_make_one);

// A connection's file as a store: write-ahead log and tables.
Result<void> make_ready(Connection& connection);

}  // namespace plimsoll::sqlite
