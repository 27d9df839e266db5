#include "adapters/postgres/limits.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "adapters/postgres/database.hpp"

namespace plimsoll::postgres {
namespace {

using Numbers = std::array<std::int64_t, 10>;  // of a step, as limits_work() reads them

Numbers numbers_of(const LimitWish& wish) {
  return {0,
          wish.limits.requests_per_minute,
          wish.limits.tokens_per_minute,
          wish.limits.tokens_per_day,
          wish.requests,
          wish.look_minute,
          wish.look_day,
          wish.input,
          wish.answer,
          wish.answer_may_shrink ? 1 : 0};
}

Numbers numbers_of(const LimitUse& use) {
  return {1, add_used(use.used, 0), use.share.of_minute, use.share.of_day, use.share.second, use.share.day};
}

LimitDone done_of(const LimitWish& wish, const Rows& rows, int row) {
  LimitGrant grant;
  grant.beyond = static_cast<LimitGrant::Beyond>(rows.integer(row, 0));
  grant.wait_ms = rows.integer(row, 1);
  grant.answer = rows.integer(row, 2);
  grant.share = {wish.owner, rows.integer(row, 3), rows.integer(row, 4), rows.integer(row, 5),
                 rows.integer(row, 6)};
  grant.state = {rows.integer(row, 7), rows.integer(row, 8), rows.integer(row, 6), rows.integer(row, 9),
                 rows.integer(row, 10)};
  return grant;
}

LimitDone done_of(const LimitUse&, const Rows& rows, int row) {
  return LimitUsed{rows.integer(row, 11),
                   {0, 0, rows.integer(row, 6), rows.integer(row, 9), rows.integer(row, 10)}};
}

std::string_view owner_of(const LimitStep& step) {
  const auto* wish = std::get_if<LimitWish>(&step);
  return wish != nullptr ? wish->owner : std::get<LimitUse>(step).share.owner;
}

class PostgresLimits final : public LimitStore {
 public:
  explicit PostgresLimits(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  Result<std::vector<LimitDone>> work(std::span<const LimitStep> steps) override {
    std::vector<std::pair<LockKey, std::size_t>> order;  // in which all gateways lock
    for (std::size_t i = 0; i < steps.size(); ++i)
      order.emplace_back(database_->lock_key("limits", owner_of(steps[i])), i);
    std::ranges::sort(order);
    std::vector<std::int64_t> locks, numbers;
    std::vector<std::string_view> owners;
    for (const auto& [lock, i] : order) {
      locks.push_back(lock);
      owners.push_back(owner_of(steps[i]));
      std::ranges::copy(std::visit([](const auto& step) { return numbers_of(step); }, steps[i]),
                        std::back_inserter(numbers));
    }
    Values values;
    values.add(locks).add_texts(owners).add(numbers).add(usual_answer).add(limit_share);
    TRY(const Rows rows, database_->once([&](Connection& connection) {
      return connection.run("SELECT * FROM limits_work($1, $2, $3, $4, $5)", values);
    }));
    if (rows.count() != static_cast<int>(steps.size()))
      return fail(Errc::damaged, "the store did {} of {} steps of limits", rows.count(), steps.size());
    std::vector<LimitDone> out(steps.size());
    for (int row = 0; row < rows.count(); ++row) {
      const std::size_t i = order[static_cast<std::size_t>(row)].second;
      out[i] = std::visit([&](const auto& step) { return done_of(step, rows, row); }, steps[i]);
    }
    return out;
  }

 private:
  const std::shared_ptr<Database> database_;
};

}  // namespace

Result<std::unique_ptr<LimitStore>> open_limits(const Options& options) {
  TRY(auto database, Database::open(options));
  return std::make_unique<PostgresLimits>(std::move(database));
}

}  // namespace plimsoll::postgres
