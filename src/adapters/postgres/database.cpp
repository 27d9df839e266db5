#include "adapters/postgres/database.hpp"

#include <map>
#include <tuple>

#include <unistd.h>

#include "adapters/postgres/schema.hpp"
#include "base/sha256.hpp"
#include "base/text/text.hpp"

namespace plimsoll::postgres {
namespace {

// How long nobody else tries after a failure to connect.
constexpr std::chrono::milliseconds between_tries{250};

// A server of this process: connections do not survive a fork.
using ServerId = std::tuple<pid_t, std::string, std::string>;

struct OpenServers {
  std::mutex mutex;
  std::map<ServerId, std::weak_ptr<Database>> databases;
};
OpenServers& open_servers() {
  static OpenServers servers;
  return servers;
}

}  // namespace

Result<std::shared_ptr<Database>> Database::open(const Options& options) {
  TRY(auto address, read_address(options.url));
  OpenServers& servers = open_servers();
  const std::lock_guard lock(servers.mutex);
  std::erase_if(servers.databases, [](const auto& one) { return one.second.expired(); });
  const ServerId id{::getpid(), base::sha256_hex(options.url.reveal()), options.schema};
  if (const auto found = servers.databases.find(id); found != servers.databases.end())
    if (auto database = found->second.lock()) return database;
  std::shared_ptr<Database> database(new Database(options, std::move(address)));
  TRY_VOID(database->make_ready());
  servers.databases[id] = database;
  return database;
}

Result<void> Database::make_ready() {
  TRY(auto lease, this->lease());
  return migrate(*lease, options_.schema, lock_key("schema"));
}

LockKey Database::lock_key(std::string_view of, std::string_view owner, std::string_view name) const {
  std::string all;
  for (const std::string_view part : {std::string_view(options_.schema), of, owner, name}) {
    all += fmt::format("{}:", part.size());
    all += part;
  }
  const std::string hash = base::sha256_hex(all).substr(0, 16);
  std::uint64_t key = 0;
  for (const char c : hash) key = key << 4 | static_cast<unsigned>(base::hex_digit(c));
  return static_cast<LockKey>(key);
}

Result<Database::Lease> Database::lease() {
  std::unique_lock lock(mutex_);
  if (!returned_.wait_for(lock, options_.wait, [&] { return in_use_ < options_.connections; }))
    return fail(Errc::unreachable,
                "the store at {} is busy: all {} connections were in use for {} s; try again later",
                address_.shown, options_.connections, options_.wait.count() / 1'000);
  while (!idle_.empty()) {
    std::unique_ptr<Connection> connection = std::move(idle_.back());
    idle_.pop_back();
    if (!connection->is_alive()) continue;
    ++in_use_;
    return Lease(*this, std::move(connection), /*is_new=*/false);
  }
  if (away_ && std::chrono::steady_clock::now() < away_until_) return tl::unexpected<Error>(*away_);
  ++in_use_;
  lock.unlock();
  auto connection = Connection::open(options_, address_);
  if (connection) return Lease(*this, *std::move(connection), /*is_new=*/true);
  lock.lock();
  --in_use_;
  away_ = connection.error();
  away_until_ = std::chrono::steady_clock::now() + between_tries;
  lock.unlock();
  returned_.notify_one();
  return tl::unexpected<Error>(std::move(connection).error());
}

void Database::give_back(std::unique_ptr<Connection> connection) {
  const bool usable = connection->is_alive() && !connection->is_in_transaction();
  if (!usable) connection.reset();
  {
    const std::lock_guard lock(mutex_);
    --in_use_;
    if (usable) idle_.push_back(std::move(connection));
  }
  returned_.notify_one();
}

}  // namespace plimsoll::postgres
