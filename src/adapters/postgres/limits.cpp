#include "adapters/postgres/limits.hpp"

#include "adapters/postgres/database.hpp"

namespace plimsoll::postgres {
namespace {

class PostgresLimits final : public LimitStore {
 public:
  explicit PostgresLimits(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  Result<LimitGrant> take(const LimitWish& wish) override {
    return database_->once([&](Connection& connection) -> Result<LimitGrant> {
      Values values;
      values.add(lock_of(wish.owner)).add(std::string_view(wish.owner));
      values.add(wish.limits.requests_per_minute)
          .add(wish.limits.tokens_per_minute)
          .add(wish.limits.tokens_per_day);
      values.add(wish.requests).add(wish.look_minute).add(wish.look_day).add(wish.input).add(wish.answer);
      values.add(wish.answer_may_shrink).add(usual_answer).add(limit_share);
      TRY(const Rows row,
          connection.run("SELECT * FROM limits_take($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
                         values));
      LimitGrant grant;
      grant.beyond = static_cast<LimitGrant::Beyond>(row.integer(0, 0));
      grant.wait_ms = row.integer(0, 1);
      grant.answer = row.integer(0, 2);
      grant.share = {wish.owner, row.integer(0, 3), row.integer(0, 4), row.integer(0, 5), row.integer(0, 6)};
      grant.state = {row.integer(0, 7), row.integer(0, 8), row.integer(0, 6), row.integer(0, 9),
                     row.integer(0, 10)};
      return grant;
    });
  }

  Result<Settled> settle(const LimitShare& share, Tokens used) override {
    return database_->once([&](Connection& connection) -> Result<Settled> {
      Values values;
      values.add(lock_of(share.owner)).add(std::string_view(share.owner)).add(add_used(used, 0));
      values.add(share.of_minute).add(share.of_day).add(share.second).add(share.day);
      TRY(const Rows row, connection.run("SELECT * FROM limits_settle($1, $2, $3, $4, $5, $6, $7)", values));
      return Settled{row.integer(0, 1), {0, 0, row.integer(0, 0), row.integer(0, 2), row.integer(0, 3)}};
    });
  }

 private:
  LockKey lock_of(std::string_view owner) const { return database_->lock_key("limits", owner); }

  const std::shared_ptr<Database> database_;
};

}  // namespace

Result<std::unique_ptr<LimitStore>> open_limits(const Options& options) {
  TRY(auto database, Database::open(options));
  return std::make_unique<PostgresLimits>(std::move(database));
}

}  // namespace plimsoll::postgres
