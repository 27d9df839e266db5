#include "gateway/auth/limit_queue.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "gateway/auth/memory_limits.hpp"

namespace plimsoll::gateway {
namespace {

using namespace std::chrono_literals;
using Beyond = LimitGrant::Beyond;

// Limits on a server, which may be away or slow.
class AwayLimits final : public LimitStore {
 public:
  Result<std::vector<LimitDone>> work(std::span<const LimitStep> steps) override {
    ++asked;
    while (is_slow) std::this_thread::sleep_for(1ms);
    if (away) return fail(Errc::unreachable, "the store is away");
    for (const LimitStep& step : steps)
      if (const auto* use = std::get_if<LimitUse>(&step)) {
        ++settled;
        of_day += use->share.of_day;
        used += use->used;
      }
    return limits_.work(steps);
  }
  std::atomic<bool> away = false, is_slow = false;
  std::atomic<int> asked = 0, settled = 0;
  std::atomic<Tokens> of_day = 0, used = 0;

 private:
  MemoryLimits limits_{base::utc_ms};
};

class LimitQueueTest : public testing::Test {
 protected:
  static void wait_until(const std::function<bool()>& is_so) {
    for (int i = 0; i < 20'000 && !is_so(); ++i) std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(is_so());
  }
  std::shared_ptr<AwayLimits> store_ = std::make_shared<AwayLimits>();
};

TEST_F(LimitQueueTest, SettlesWithoutBeingWaitedForAndBeforeItEnds) {
  std::atomic<int> told = 0;
  {
    LimitQueue queue(store_,
                     [&](const std::string& owner, const LimitUsed&) { told += owner == "ann" ? 1 : 0; });
    for (int i = 0; i < 1'000; ++i) queue.settle({"ann", 10, 10, 1, 1}, 3);
  }
  EXPECT_EQ(store_->settled, 1'000);
  EXPECT_EQ(store_->used, 3'000);
  EXPECT_EQ(told, 1'000);
}

TEST_F(LimitQueueTest, SettlesByItselfIfNoRequestComes) {
  LimitQueue queue(store_, {});
  queue.settle({"ann", 10, 10, 1, 1}, 3);
  wait_until([&] { return store_->settled == 1; });
  queue.settle({"ann", 10, 10, 1, 1}, 3);
  wait_until([&] { return store_->settled == 2; });
}

TEST_F(LimitQueueTest, WhatWasUsedGoesAlongWithTheNextRequestAndBeforeIt) {
  const KeyLimits limits{.tokens_per_day = 1'000};
  LimitQueue queue(store_, {}, {.patience = 1h});
  auto grant = queue.take({.owner = "ann", .limits = limits, .input = 900});
  ASSERT_TRUE(grant);
  ASSERT_EQ(grant->beyond, Beyond::nothing);
  queue.settle(grant->share, 100);
  grant = queue.take({.owner = "ann", .limits = limits, .input = 900});
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->beyond, Beyond::nothing);
  EXPECT_EQ(grant->state.used, 100);
  EXPECT_EQ(store_->asked, 2);
  EXPECT_EQ(queue.waiting(), 0U);
}

TEST_F(LimitQueueTest, RequestsThatComeMeanwhileGoTogether) {
  constexpr int clients = 12;
  LimitQueue queue(store_, {}, {.patience = 1h, .most_steps = 8});
  store_->is_slow = true;
  std::atomic<int> granted = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < clients; ++i)
    threads.emplace_back([&] {
      const auto grant =
          queue.take({.owner = "ann", .limits = {.requests_per_minute = clients - 1}, .requests = 1});
      granted += grant && grant->beyond == Beyond::nothing ? 1 : 0;
    });
  wait_until([&] { return store_->asked == 1; });
  std::this_thread::sleep_for(50ms);  // the others come
  store_->is_slow = false;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(granted, clients - 1);
  EXPECT_GE(store_->asked, 2);
  EXPECT_LE(store_->asked, 6);
}

TEST_F(LimitQueueTest, ManyClientsTakeAndSettleAndNoneIsForgotten) {
  constexpr Tokens budget = 50'000;
  std::atomic<Tokens> used = 0;
  std::atomic<int> failed = 0;
  {
    LimitQueue queue(store_, {}, {.patience = 1ms, .between_tries = 1ms, .most_steps = 5});
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 500; ++i) {
          if (t == 0 && i % 50 == 0) store_->away = i % 100 == 0;
          const auto grant = queue.take(
              {.owner = i % 3 == 0 ? "ann" : "bob", .limits = {.tokens_per_day = budget}, .input = 20});
          if (!grant) ++failed;
          if (!grant || grant->beyond != Beyond::nothing) continue;
          EXPECT_LE(grant->state.used + grant->state.reserved, budget);
          used += 7;
          queue.settle(grant->share, 7);
        }
      });
    for (std::thread& thread : threads) thread.join();
    store_->away = false;
  }
  EXPECT_EQ(store_->used, used);
  EXPECT_GT(used, 0);
  EXPECT_GT(failed, 0);
}

TEST_F(LimitQueueTest, TriesAgainUntilTheStoreIsBack) {
  store_->away = true;
  LimitQueue queue(store_, {}, {.patience = 1ms, .between_tries = 1ms});
  for (int i = 0; i < 10; ++i) queue.settle({"ann", 10, 10, 1, 1}, 3);
  wait_until([&] { return store_->asked >= 5; });
  EXPECT_EQ(store_->settled, 0);
  store_->away = false;
  wait_until([&] { return store_->settled == 10; });
  EXPECT_EQ(queue.waiting(), 0U);
}

TEST_F(LimitQueueTest, WhatARequestCouldNotSettleIsKept) {
  LimitQueue queue(store_, {}, {.patience = 1ms, .between_tries = 1ms});
  store_->away = true;
  queue.settle({"ann", 10, 10, 1, 1}, 3);
  EXPECT_FALSE(queue.take({.owner = "ann", .requests = 1}));
  store_->away = false;
  wait_until([&] { return store_->used == 3; });
}

TEST_F(LimitQueueTest, RequestsFailAtOnceBehindMoreThanOneRoundTripTakes) {
  LimitQueue queue(store_, {}, {.patience = 1h, .between_tries = 1h, .at_end = 0ms, .most_steps = 8});
  store_->away = true;
  for (int i = 0; i < 100; ++i) queue.settle({"ann", 10, 10, 1, 1}, 3);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] { EXPECT_FALSE(queue.take({.owner = "ann", .requests = 1})); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(queue.waiting(), 100U);
  store_->away = false;
  EXPECT_TRUE(queue.take({.owner = "ann", .requests = 1}));
  EXPECT_EQ(store_->settled, 100);
  EXPECT_EQ(store_->used, 300);
}

TEST_F(LimitQueueTest, AddsUpWhatWaitsTooLong) {
  store_->away = true;
  LimitQueue queue(store_, {}, {.patience = 1ms, .between_tries = 1ms, .most_waiting = 50});
  for (int i = 0; i < 1'000; ++i) queue.settle({i % 2 == 0 ? "ann" : "bob", 10, 10, 1, 1}, 3);
  wait_until([&] { return queue.waiting() <= 64; });
  store_->away = false;
  wait_until([&] { return store_->used == 3'000; });
  EXPECT_EQ(store_->of_day, 10'000);
  EXPECT_LE(store_->settled, 120);
}

}  // namespace
}  // namespace plimsoll::gateway
