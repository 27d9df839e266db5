#include "adapters/postgres/keys.hpp"

#include <fmt/ranges.h>

#include "adapters/postgres/database.hpp"

namespace plimsoll::postgres {
namespace {

constexpr std::string_view all_columns =
    "SELECT id, name, hash, created_ms, private_indexes, requests_per_minute, tokens_per_minute, "
    "tokens_per_day, revoked FROM keys";

ApiKey key_in(const Rows& rows, int row) {
  ApiKey key;
  key.id = rows.text(row, 0);
  key.name = rows.text(row, 1);
  key.hash = rows.text(row, 2);
  key.created_ms = rows.integer(row, 3);
  key.private_indexes = rows.boolean(row, 4);
  key.limits = {rows.integer(row, 5), rows.integer(row, 6), rows.integer(row, 7)};
  key.revoked = rows.boolean(row, 8);
  return key;
}

Result<std::vector<ApiKey>> select_keys(Connection& connection) {
  TRY(const Rows rows, connection.run(fmt::format("{} ORDER BY number", all_columns)));
  std::vector<ApiKey> out;
  for (int row = 0; row < rows.count(); ++row) out.push_back(key_in(rows, row));
  return out;
}

tl::unexpected<Error> no_such_key(std::string_view name, const std::vector<ApiKey>& keys) {
  if (keys.empty()) return fail(Errc::not_found, "there are no keys yet: `plimsoll keys add NAME` makes one");
  std::vector<std::string_view> names;
  for (const ApiKey& key : keys) names.push_back(key.name);
  return fail(Errc::not_found, "no key is called '{}'; there are {}", name, fmt::join(names, ", "));
}

Result<void> insert_key(Connection& connection, const ApiKey& key) {
  Values values;
  values.add(std::string_view(key.id)).add(std::string_view(key.name)).add(std::string_view(key.hash));
  values.add(key.created_ms).add(key.private_indexes).add(key.limits.requests_per_minute);
  values.add(key.limits.tokens_per_minute).add(key.limits.tokens_per_day).add(key.revoked);
  TRY(const Rows added,
      connection.run("INSERT INTO keys (id, name, hash, created_ms, private_indexes, "
                     "requests_per_minute, tokens_per_minute, tokens_per_day, revoked) "
                     "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (name) DO NOTHING",
                     values));
  if (added.changed() == 1) return {};
  TRY(const Rows other,
      connection.run("SELECT revoked FROM keys WHERE name = $1", Values().add(std::string_view(key.name))));
  const bool revoked = !other.empty() && other.boolean(0, 0);
  return fail(Errc::bad_input, "a key is called '{}' already{}: choose another name", key.name,
              revoked ? ", and was revoked" : "");
}

// Columns are ours, never a client's.
std::string_view column_of(UsageWish::By by) {
  switch (by) {
    case UsageWish::By::owner: return "owner";
    case UsageWish::By::model: return "model";
    case UsageWish::By::section: return "section";
    case UsageWish::By::day: return "day";
  }
  return "owner";
}

Result<std::vector<UsageSum>> select_usage(Connection& connection, const UsageWish& wish) {
  const std::string sql = fmt::format(
      "SELECT {0}, section, least(sum(tokens), {1})::bigint, least(sum(requests), {1})::bigint, "
      "least(sum(nano_usd), {2})::bigint, least(sum(priced), {1})::bigint FROM usage WHERE day BETWEEN $1 "
      "AND $2 AND ($3 = '' OR owner = $3) GROUP BY 1, 2 ORDER BY 1, 2",
      column_of(wish.by), most_used, most_cost);
  Values values;
  values.add(wish.first_day).add(wish.last_day).add(std::string_view(wish.owner));
  TRY(const Rows rows, connection.run(sql, values));
  std::vector<UsageSum> out;
  for (int row = 0; row < rows.count(); ++row) {
    std::string group =
        wish.by == UsageWish::By::day ? std::to_string(rows.integer(row, 0)) : rows.text(row, 0);
    out.push_back({std::move(group), rows.text(row, 1), rows.integer(row, 2), rows.integer(row, 3),
                   rows.integer(row, 4), rows.integer(row, 5)});
  }
  return out;
}

class PostgresKeys final : public KeyStore {
 public:
  explicit PostgresKeys(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  Result<void> add(const ApiKey& key) override {
    return database_->written([&](Connection& connection) { return insert_key(connection, key); });
  }
  Result<std::vector<ApiKey>> keys() override { return database_->read(select_keys); }
  Result<ApiKey> find(std::string_view hash) override {
    return database_->read([&](Connection& connection) -> Result<ApiKey> {
      TRY(const Rows rows,
          connection.run(fmt::format("{} WHERE hash = $1", all_columns), Values().add(hash)));
      if (rows.empty()) return fail(Errc::not_found, "no key has that secret");
      return key_in(rows, 0);
    });
  }
  Result<ApiKey> set_limits(std::string_view name, const KeyLimits& limits) override {
    Values values;
    values.add(name).add(limits.requests_per_minute).add(limits.tokens_per_minute).add(limits.tokens_per_day);
    return changed(name, "requests_per_minute = $2, tokens_per_minute = $3, tokens_per_day = $4", values);
  }
  Result<ApiKey> set_hash(std::string_view name, std::string_view hash) override {
    return changed(name, "hash = $2", Values().add(name).add(hash));
  }
  Result<ApiKey> revoke(std::string_view name) override {
    return changed(name, "revoked = true", Values().add(name));
  }
  Result<std::vector<UsageSum>> usage(const UsageWish& wish) override {
    return database_->read([&](Connection& connection) { return select_usage(connection, wish); });
  }

 private:
  Result<ApiKey> changed(std::string_view name, std::string_view assignments, const Values& values) {
    return database_->written([&](Connection& connection) -> Result<ApiKey> {
      const std::string sql = fmt::format("UPDATE keys SET {} WHERE name = $1 AND NOT revoked", assignments);
      TRY(const Rows updated, connection.run(sql, values));
      TRY(auto keys, select_keys(connection));
      for (ApiKey& key : keys) {
        if (key.name != name) continue;
        if (updated.changed() == 0)
          return fail(Errc::bad_input, "the key '{}' was revoked; `plimsoll keys add` makes another", name);
        return std::move(key);
      }
      return no_such_key(name, keys);
    });
  }

  const std::shared_ptr<Database> database_;
};

}  // namespace

Result<std::unique_ptr<KeyStore>> open_keys(const Options& options) {
  TRY(auto database, Database::open(options));
  return std::make_unique<PostgresKeys>(std::move(database));
}

}  // namespace plimsoll::postgres
