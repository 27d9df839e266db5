// The tables of the store, and how an older store comes up to them.
#pragma once

#include <filesystem>
#include <string_view>

#include "adapters/sqlite/database.hpp"

namespace plimsoll::sqlite {

// The version that this program writes; `PRAGMA user_version` of the file.
inline constexpr std::int64_t schema_version = 12;

// Makes the tables where there are none, and brings older ones up, in one transaction. unsupported: the file
// was written by a newer program.
Result<void> migrate(Connection& connection);

// A connection's file as a store: write-ahead log and tables.
Result<void> make_ready(Connection& connection);

}  // namespace plimsoll::sqlite
