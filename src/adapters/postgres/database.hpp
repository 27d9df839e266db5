// A server as all stores on it use it: a pool of connections, transactions, and tables that are up to date.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/postgres/connection.hpp"
#include "base/try.hpp"

namespace plimsoll::postgres {

// Identifies what a transaction locks until it ends, for all gateways.
using LockKey = std::int64_t;

// Thread-safe.
class Database {
 public:
  // Opens the pool with its tables up to date. Stores that are open at the same time share one database.
  static Result<std::shared_ptr<Database>> open(const Options& options);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& shown() const { return address_.shown; }
  // A key of its own for everything that is named differently.
  LockKey lock_key(std::string_view of, std::string_view owner = {}, std::string_view name = {}) const;

  // Reads with one or several statements, each of which sees what was committed before it. Repeated once if
  // the connection turns out to be dead.
  template <typename Work>
  auto read(Work work) -> decltype(work(std::declval<Connection&>())) {
    while (true) {
      TRY(auto lease, this->lease());
      auto result = work(*lease);
      if (result || lease->is_alive() || lease.is_new()) return result;
    }
  }

  // Runs one statement that is a transaction of its own. Not repeated: whether a statement whose reply was
  // lost took effect is not known.
  template <typename Work>
  auto once(Work work) -> decltype(work(std::declval<Connection&>())) {
    TRY(auto lease, this->lease());
    return work(*lease);
  }

  // Reads with several statements that all see the same state.
  template <typename Work>
  auto viewed(Work work) -> decltype(work(std::declval<Connection&>())) {
    return in_transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", std::move(work));
  }

  // Writes in one transaction, which is on the server's disk when the call returns; an error takes it back.
  // Repeated after a conflict with another transaction: `work` must not keep anything of an earlier run.
  template <typename Work>
  auto written(Work work) -> decltype(work(std::declval<Connection&>())) {
    return in_transaction("BEGIN", std::move(work));
  }
  // The same while no other transaction has `key` locked.
  template <typename Work>
  auto written(LockKey key, Work work) -> decltype(work(std::declval<Connection&>())) {
    return in_transaction(fmt::format("BEGIN; SELECT pg_advisory_xact_lock({})", key), std::move(work));
  }

 private:
  class Lease {
   public:
    Lease(Database& database, std::unique_ptr<Connection> connection, bool is_new)
        : database_(&database), connection_(std::move(connection)), is_new_(is_new) {}
    Lease(Lease&& other) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (connection_) database_->give_back(std::move(connection_));
    }
    Connection* operator->() { return connection_.get(); }
    Connection& operator*() { return *connection_; }
    bool is_new() const { return is_new_; }  // connected just now

   private:
    Database* database_;
    std::unique_ptr<Connection> connection_;
    bool is_new_;
  };

  Database(const Options& options, Address address) : options_(options), address_(std::move(address)) {}

  // unreachable: the server is away, or all connections were in use for too long.
  Result<Lease> lease();
  void give_back(std::unique_ptr<Connection> connection);
  Result<void> make_ready();

  template <typename Work>
  auto in_transaction(const std::string& begin, Work work) -> decltype(work(std::declval<Connection&>())) {
    for (int attempt = 1;; ++attempt) {
      TRY(auto lease, this->lease());
      if (auto begun = lease->execute(begin); !begun) {
        if (!lease->is_alive() && !lease.is_new()) continue;  // nothing was done yet
        return tl::unexpected<Error>(std::move(begun).error());
      }
      auto result = work(*lease);
      bool conflict = !result && lease->had_conflict();
      if (result) {
        auto done = lease->execute("COMMIT");
        if (done) return result;
        conflict = lease->had_conflict();
        result = tl::unexpected<Error>(std::move(done).error());
      } else if (lease->is_alive()) {
        (void)lease->execute("ROLLBACK");
      }
      if (!conflict || attempt == most_attempts) return result;
    }
  }
  static constexpr int most_attempts = 10;

  const Options options_;
  const Address address_;

  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Connection>> idle_;
  std::size_t in_use_ = 0;
  // The last failure to connect, which holds for everybody for a moment.
  std::optional<Error> away_;
  std::chrono::steady_clock::time_point away_until_{};
};

}  // namespace plimsoll::postgres
