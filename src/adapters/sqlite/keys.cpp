#include "adapters/sqlite/keys.hpp"

#include <fmt/ranges.h>

#include "adapters/sqlite/database.hpp"
#include "adapters/sqlite/shared_database.hpp"
#include "base/try.hpp"

namespace plimsoll::sqlite {
namespace {

constexpr std::string_view all_columns =
    "SELECT id, name, hash, created_ms, private_indexes, requests_per_minute, tokens_per_minute, "
    "tokens_per_day, revoked FROM keys";

ApiKey key_in(const Statement& row) {
  ApiKey key;
  key.id = row.text(0);
  key.name = row.text(1);
  key.hash = row.text(2);
  key.created_ms = row.integer(3);
  key.private_indexes = row.integer(4) != 0;
  key.limits = {row.integer(5), row.integer(6), row.integer(7)};
  key.revoked = row.integer(8) != 0;
  return key;
}

Result<std::vector<ApiKey>> select_keys(Connection& connection) {
  TRY(auto row, connection.prepare(fmt::format("{} ORDER BY number", all_columns)));
  std::vector<ApiKey> out;
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return out;
    out.push_back(key_in(row));
  }
}

Result<ApiKey> select_by_hash(Connection& connection, std::string_view hash) {
  TRY(auto row, connection.prepare(fmt::format("{} WHERE hash = ?", all_columns)));
  TRY(const bool found, row.bind(hash).step());
  if (!found) return fail(Errc::not_found, "no key has that secret");
  return key_in(row);
}

tl::unexpected<Error> no_such_key(std::string_view name, const std::vector<ApiKey>& keys) {
  if (keys.empty()) return fail(Errc::not_found, "there are no keys yet: `plimsoll keys add NAME` makes one");
  std::vector<std::string_view> names;
  for (const ApiKey& key : keys) names.push_back(key.name);
  return fail(Errc::not_found, "no key is called '{}'; there are {}", name, fmt::join(names, ", "));
}

// One that may be changed.
Result<ApiKey> living_key(Connection& connection, std::string_view name) {
  TRY(auto keys, select_keys(connection));
  for (ApiKey& key : keys) {
    if (key.name != name) continue;
    if (key.revoked)
      return fail(Errc::bad_input, "the key '{}' was revoked; `plimsoll keys add` makes another", name);
    return std::move(key);
  }
  return no_such_key(name, keys);
}

Result<void> insert_key(Connection& connection, const ApiKey& key) {
  TRY(const auto keys, select_keys(connection));
  for (const ApiKey& other : keys)
    if (other.name == key.name)
      return fail(Errc::bad_input, "a key is called '{}' already{}: choose another name", key.name,
                  other.revoked ? ", and was revoked" : "");
  TRY(auto insert, connection.prepare("INSERT INTO keys (id, name, hash, created_ms, private_indexes, "
                                      "requests_per_minute, tokens_per_minute, tokens_per_day, revoked) "
                                      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  insert.bind(key.id).bind(key.name).bind(key.hash).bind(key.created_ms);
  insert.bind(std::int64_t{key.private_indexes}).bind(key.limits.requests_per_minute);
  insert.bind(key.limits.tokens_per_minute).bind(key.limits.tokens_per_day).bind(std::int64_t{key.revoked});
  return insert.run();
}

Result<void> update_key(Connection& connection, const ApiKey& key) {
  TRY(auto update,
      connection.prepare("UPDATE keys SET hash = ?, requests_per_minute = ?, tokens_per_minute = ?, "
                         "tokens_per_day = ?, revoked = ? WHERE id = ?"));
  update.bind(key.hash).bind(key.limits.requests_per_minute).bind(key.limits.tokens_per_minute);
  update.bind(key.limits.tokens_per_day).bind(std::int64_t{key.revoked}).bind(key.id);
  return update.run();
}

std::string_view column_of(UsageWish::By by) {
  switch (by) {
    case UsageWish::By::owner: return "owner";
    case UsageWish::By::model: return "model";
    case UsageWish::By::section: return "section";
    case UsageWish::By::day: return "day";
  }
  return "owner";
}

// Rows that were written before numbers were bounded may hold anything. total() cannot overflow, and is exact
// to 2^53, which is above the most.
std::string bounded_sum(std::string_view column, std::int64_t most) {
  return fmt::format("CAST(min(total(min(max({0}, 0), {1})), {1}) AS INTEGER)", column, most);
}

Result<std::vector<UsageSum>> select_usage(Connection& connection, const UsageWish& wish) {
  TRY(auto row, connection.prepare(fmt::format(
                    "SELECT {0}, section, {1}, {2}, {3}, {4} FROM usage "
                    "WHERE day BETWEEN ? AND ? AND {5} GROUP BY 1, 2 ORDER BY 1, 2",
                    column_of(wish.by), bounded_sum("tokens", most_used), bounded_sum("requests", most_used),
                    bounded_sum("nano_usd", most_cost), bounded_sum("priced", most_used),
                    wish.owner.empty() ? "? = ''" : "owner = ?")));
  row.bind(wish.first_day).bind(wish.last_day).bind(wish.owner);
  std::vector<UsageSum> out;
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return out;
    out.push_back({std::string(row.text(0)), std::string(row.text(1)), row.integer(2), row.integer(3),
                   row.integer(4), row.integer(5)});
  }
}

class SqliteKeys final : public KeyStore {
 public:
  explicit SqliteKeys(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  Result<void> add(const ApiKey& key) override {
    return database_->written([&](Connection& connection) { return insert_key(connection, key); });
  }
  Result<std::vector<ApiKey>> keys() override {
    TRY(auto connection, database_->lease());
    return select_keys(*connection);
  }
  Result<ApiKey> find(std::string_view hash) override {
    TRY(auto connection, database_->lease());
    return select_by_hash(*connection, hash);
  }
  Result<ApiKey> set_limits(std::string_view name, const KeyLimits& limits) override {
    return changed(name, [&](ApiKey& key) { key.limits = limits; });
  }
  Result<ApiKey> set_hash(std::string_view name, std::string_view hash) override {
    return changed(name, [&](ApiKey& key) { key.hash = hash; });
  }
  Result<ApiKey> revoke(std::string_view name) override {
    return changed(name, [](ApiKey& key) { key.revoked = true; });
  }
  Result<std::vector<UsageSum>> usage(const UsageWish& wish) override {
    TRY(auto connection, database_->lease());
    return select_usage(*connection, wish);
  }

 private:
  template <typename Change>
  Result<ApiKey> changed(std::string_view name, Change change) {
    return database_->written([&](Connection& connection) -> Result<ApiKey> {
      TRY(ApiKey key, living_key(connection, name));
      change(key);
      TRY_VOID(update_key(connection, key));
      return key;
    });
  }

  const std::shared_ptr<Database> database_;
};

}  // namespace

Result<std::vector<FalseUsage>> find_false_usage(const std::filesystem::path& file) {
  ConnectionPool pool(file, Connection::Mode::read);
  TRY(auto connection, pool.lease());
  TRY(auto row,
      connection->prepare(fmt::format("SELECT day, owner, tokens FROM usage WHERE tokens NOT BETWEEN 0 "
                                      "AND {0} OR requests NOT BETWEEN 0 AND {0} ORDER BY 1, 2",
                                      most_used - 1)));
  std::vector<FalseUsage> out;
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return out;
    out.push_back({row.integer(0), std::string(row.text(1)), row.integer(2)});
  }
}

Result<std::unique_ptr<KeyStore>> open_keys(const std::filesystem::path& file, const OpenOptions& options) {
  return open_as_allowed<SqliteKeys>(file, options, "`plimsoll serve` or `plimsoll keys add NAME` makes one",
                                     [](auto& store) { return store.keys().has_value(); });
}

}  // namespace plimsoll::sqlite
