#include "adapters/postgres/index_turns.hpp"

#include "adapters/postgres/database.hpp"

namespace plimsoll::postgres {

class IndexTurns::Turn {
 public:
  Turn(std::shared_ptr<IndexTurns> turns, std::unique_ptr<Connection> connection, LockKey key)
      : turns_(std::move(turns)), connection_(std::move(connection)), key_(key) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    constexpr std::size_t most_idle = 2;
    if (!connection_->run("SELECT pg_advisory_unlock($1)", Values().add(key_)))
      return;  // closing unlocks too
    const std::lock_guard lock(turns_->mutex_);
    if (turns_->idle_.size() < most_idle) turns_->idle_.push_back(std::move(connection_));
  }

 private:
  std::shared_ptr<IndexTurns> turns_;
  std::unique_ptr<Connection> connection_;
  LockKey key_;
};

IndexTurns::IndexTurns(const Options& options) : options_(options) {}
IndexTurns::~IndexTurns() = default;

std::shared_ptr<IndexTurns> IndexTurns::make(const Options& options) {
  return std::shared_ptr<IndexTurns>(new IndexTurns(options));
}

std::unique_ptr<Connection> IndexTurns::idle_connection() {
  const std::lock_guard lock(mutex_);
  while (!idle_.empty()) {
    std::unique_ptr<Connection> connection = std::move(idle_.back());
    idle_.pop_back();
    if (connection->is_alive()) return connection;
  }
  return nullptr;
}

Result<std::shared_ptr<const void>> IndexTurns::take(std::string_view owner, std::string_view name) {
  TRY(const auto database, Database::open(options_));
  const LockKey key = database->lock_key("index turn", owner, name);
  while (true) {
    std::unique_ptr<Connection> connection = idle_connection();
    const bool is_new = connection == nullptr;
    if (is_new) {
      TRY(const Address address, read_address(options_.url));
      TRY(connection, Connection::open(options_, address));
    }
    const auto locked = connection->run("SELECT pg_advisory_lock($1)", Values().add(key));
    if (locked)
      return std::shared_ptr<const void>(
          std::make_shared<Turn>(shared_from_this(), std::move(connection), key));
    if (is_new || connection->is_alive()) return tl::unexpected<Error>(locked.error());
  }
}

}  // namespace plimsoll::postgres
