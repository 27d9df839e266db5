// One file as all stores over it use it: its connections, its tables, and one writer at a time.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "adapters/sqlite/database.hpp"
#include "adapters/sqlite/options.hpp"
#include "base/try.hpp"

namespace plimsoll::sqlite {

// Thread-safe.
class Database {
 public:
  // Opens the file for writing, with its tables up to date. Stores that are open at the same time share one
  // database, whatever path they name the file by.
  static Result<std::shared_ptr<Database>> open(const std::filesystem::path& file);
  // Opens a file that cannot be written, for one store alone. Nothing is checked.
  static std::shared_ptr<Database> open_to_read(const std::filesystem::path& file, Connection::Mode mode);

  Result<ConnectionPool::Lease> lease() { return pool_.lease(); }

  // Works on one view of the file, however many statements that takes.
  template <typename Work>
  auto viewed(Work work) -> decltype(work(std::declval<Connection&>())) {
    TRY(auto connection, pool_.lease());
    TRY_VOID(connection->execute("BEGIN"));
    auto result = work(*connection);
    (void)connection->execute("ROLLBACK");
    return result;
  }

  // Writes in one transaction, which is on the disk when the call returns; an error takes it back.
  template <typename Work>
  auto written(Work work) -> decltype(work(std::declval<Connection&>())) {
    TRY(const auto turn, take_turn());
    TRY(auto connection, pool_.lease());
    return in_transaction(*connection, std::move(work));
  }

  // The same for what a power cut may take: it is in the log when the call returns.
  template <typename Work>
  auto logged(Work work) -> decltype(work(std::declval<Connection&>())) {
    TRY(const auto turn, take_turn());
    TRY(auto connection, logging_.lease());
    TRY_VOID(
        connection->execute("PRAGMA synchronous = NORMAL; PRAGMA mmap_size = 0; PRAGMA cache_size = -512"));
    return in_transaction(*connection, std::move(work));
  }

  // Works while nobody else of this process writes, without a transaction.
  template <typename Work>
  auto alone(Work work) -> decltype(work(std::declval<Connection&>())) {
    TRY(const auto turn, take_turn());
    TRY(auto connection, pool_.lease());
    return work(*connection);
  }

 private:
  Database(const std::filesystem::path& file, Connection::Mode mode)
      : file_(file), pool_(file, mode), logging_(file, mode) {}

  // SQLite's own waiting is by polling; threads of one process queue. io_failed after as long as for another
  // process.
  Result<std::unique_lock<std::timed_mutex>> take_turn();

  template <typename Work>
  static auto in_transaction(Connection& connection, Work work)
      -> decltype(work(std::declval<Connection&>())) {
    TRY(auto transaction, Transaction::begin(connection));
    auto result = work(connection);
    if (!result) return result;
    TRY_VOID(transaction.commit());
    return result;
  }

  std::filesystem::path file_;
  ConnectionPool pool_;
  // What is written by it is hardly read again: a large cache or a map of the file would only fill the
  // memory.
  ConnectionPool logging_;
  std::timed_mutex writing_;
};

// Returns whether the file exists; if it does not and may be made, its folder does. not_found says how to
// come by one.
Result<bool> find_file(const std::filesystem::path& file, bool create, std::string_view how_to_make_one);

// Opens a store in the first way that works, from changing it down to reading a disk that cannot change.
// `reads`: whether one that is opened for reading alone can be read.
template <typename Made, typename Reads>
Result<std::unique_ptr<Made>> open_as_allowed(const std::filesystem::path& file, const OpenOptions& options,
                                              std::string_view how_to_make_one, Reads reads) {
  TRY(const bool exists, find_file(file, options.create, how_to_make_one));
  auto database = Database::open(file);
  if (database) return std::make_unique<Made>(*std::move(database));
  if (exists && database.error().code == Errc::io_failed) {
    for (const auto mode : {Connection::Mode::read, Connection::Mode::unchanging}) {
      auto readable = std::make_unique<Made>(Database::open_to_read(file, mode));
      if (reads(*readable)) return readable;
    }
  }
  return tl::unexpected<Error>(database.error());
}

}  // namespace plimsoll::sqlite
