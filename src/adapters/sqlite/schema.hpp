// The tables of the store, and how an older store comes up to them.
#pragma once

#include <filesystem>
#include <string_view>

#include "adapters/sqlite/database.hpp"

namespace plimsoll::sqlite {

// The version that this program writes; `PRAGMA user_version` of the file.
inline constexpr std::int64_t schema_version = 10;

// Makes the tables where there are none, and brings older ones up, in one transaction. unsupported: the file
// was written by a newer program.
Result<void> migrate(Connection& connection);

// Whether the file is there; where it is not and may be made, its folder is. not_found says how to come by
// one.
Result<bool> find_file(const std::filesystem::path& file, bool create, std::string_view how_to_make_one);

// A connection's file as a store: write-ahead log and tables.
Result<void> make_ready(Connection& connection);

// The first of the ways to open a store that works, from changing it down to reading a disk that cannot
// change. `reads`: whether one that is opened for reading alone can be read.
template <typename Made, typename Reads>
Result<std::unique_ptr<Made>> open_as_allowed(const std::filesystem::path& file, bool exists, Reads reads) {
  auto store = std::make_unique<Made>(file, Connection::Mode::write);
  const auto prepared = store->prepare();
  if (prepared) return store;
  if (exists && prepared.error().code == Errc::io_failed) {
    for (const auto mode : {Connection::Mode::read, Connection::Mode::unchanging}) {
      auto readable = std::make_unique<Made>(file, mode);
      if (reads(*readable)) return readable;
    }
  }
  return tl::unexpected<Error>(prepared.error());
}

}  // namespace plimsoll::sqlite
