#include "gateway/auth/settler.hpp"

#include <atomic>

#include <gtest/gtest.h>

namespace plimsoll::gateway {
namespace {

using namespace std::chrono_literals;

// Adds up what is settled, unless it is away.
class AwayLimits final : public LimitStore {
 public:
  Result<LimitGrant> take(const LimitWish&) override { return LimitGrant{}; }
  Result<Settled> settle(const LimitShare& share, Tokens used) override {
    ++asked;
    if (away) return fail(Errc::unreachable, "the store is away");
    of_day += share.of_day;
    sum += used;
    ++settled;
    return Settled{0, {0, 0, share.day, sum, 0}};
  }
  std::atomic<bool> away = false;
  std::atomic<int> asked = 0, settled = 0;
  std::atomic<Tokens> of_day = 0, sum = 0;
};

TEST(Settler, SettlesWithoutBeingWaitedForAndBeforeItEnds) {
  const auto store = std::make_shared<AwayLimits>();
  std::atomic<int> told = 0;
  {
    Settler settler(
        store, [&](const std::string& owner, const LimitStore::Settled&) { told += owner == "ann" ? 1 : 0; });
    for (int i = 0; i < 100; ++i) settler.add({"ann", 10, 10, 1, 1}, 3);
  }
  EXPECT_EQ(store->settled, 100);
  EXPECT_EQ(store->sum, 300);
  EXPECT_EQ(told, 100);
}

TEST(Settler, TriesAgainUntilTheStoreIsBack) {
  const auto store = std::make_shared<AwayLimits>();
  store->away = true;
  Settler settler(store, {}, {.between_tries = 1ms});
  for (int i = 0; i < 10; ++i) settler.add({"ann", 10, 10, 1, 1}, 3);
  while (store->asked < 5) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(store->settled, 0);
  store->away = false;
  while (settler.waiting() > 0) std::this_thread::sleep_for(1ms);
  settler.settle_now("ann");
  while (store->settled < 10) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(store->sum, 30);
}

TEST(Settler, SettlesWhatAnOwnerWaitsFor) {
  const auto store = std::make_shared<AwayLimits>();
  store->away = true;
  Settler settler(store, {}, {.between_tries = 1h, .at_end = 0ms});
  settler.add({"bob", 1, 1, 1, 1}, 1);
  while (store->asked < 1) std::this_thread::sleep_for(1ms);
  settler.add({"ann", 10, 10, 1, 1}, 3);
  settler.settle_now("ann");  // in vain, and kept
  EXPECT_GE(settler.waiting(), 1U);
  store->away = false;
  settler.settle_now("ann");
  EXPECT_EQ(store->sum, 3);
}

TEST(Settler, AddsUpWhatWaitsTooLong) {
  const auto store = std::make_shared<AwayLimits>();
  store->away = true;
  Settler settler(store, {}, {.between_tries = 1ms, .most_waiting = 50});
  for (int i = 0; i < 1'000; ++i) settler.add({i % 2 == 0 ? "ann" : "bob", 10, 10, 1, 1}, 3);
  EXPECT_LE(settler.waiting(), 51U);
  store->away = false;
  while (store->sum < 3'000) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(store->of_day, 10'000);
  EXPECT_LE(store->settled, 60);
}

}  // namespace
}  // namespace plimsoll::gateway
