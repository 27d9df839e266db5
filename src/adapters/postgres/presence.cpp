#include "adapters/postgres/presence.hpp"

#include "adapters/postgres/database.hpp"

namespace plimsoll::postgres {

Presence::Presence(std::unique_ptr<Connection> connection, std::int64_t key)
    : connection_(std::move(connection)), key_(key) {}

Result<std::unique_ptr<Presence>> Presence::take(const Options& options) {
  TRY(const auto database, Database::open(options));
  TRY(const Address address, read_address(options.url));
  TRY(auto connection, Connection::open(options, address));
  std::unique_ptr<Presence> made(new Presence(std::move(connection), database->lock_key("presence")));
  TRY(const Rows alone, made->connection_->run("SELECT pg_try_advisory_lock($1)", Values().add(made->key_)));
  made->is_alone_ = alone.boolean(0, 0);
  if (!made->is_alone_) TRY_VOID(made->share());
  return made;
}

Presence::~Presence() = default;

Result<void> Presence::share() {
  TRY_VOID(connection_->run("SELECT pg_advisory_lock_shared($1)", Values().add(key_)));
  if (is_alone_) TRY_VOID(connection_->run("SELECT pg_advisory_unlock($1)", Values().add(key_)));
  is_alone_ = false;
  return {};
}

}  // namespace plimsoll::postgres
