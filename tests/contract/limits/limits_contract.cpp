#include "contract/limits/limits_contract.hpp"

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

namespace plimsoll {

using Beyond = LimitGrant::Beyond;

void LimitsContract::SetUp() {
  auto opened = GetParam().open(folder_.path());
  ASSERT_TRUE(opened) << opened.error().what;
  store_ = *std::move(opened);
}

LimitGrant LimitsContract::take(const LimitWish& wish) {
  auto grant = store_->take(wish);
  EXPECT_TRUE(grant) << grant.error().what;
  return grant ? *std::move(grant) : LimitGrant{};
}

LimitUsed LimitsContract::settle(const LimitShare& share, Tokens used) {
  auto settled = store_->settle(share, used);
  EXPECT_TRUE(settled) << settled.error().what;
  return settled ? *std::move(settled) : LimitUsed{};
}

TEST_P(LimitsContract, CountsTheRequestsOfAMinute) {
  const LimitWish wish{.owner = "ann", .limits = {.requests_per_minute = 3}, .requests = 1};
  for (std::int64_t left = 2; left >= 0; --left) {
    const LimitGrant grant = take(wish);
    EXPECT_EQ(grant.beyond, Beyond::nothing);
    EXPECT_EQ(grant.state.requests_left, left);
  }
  for (int i = 0; i < 3; ++i) {
    const LimitGrant refused = take(wish);
    EXPECT_EQ(refused.beyond, Beyond::requests);
    EXPECT_GT(refused.wait_ms, 0);
    EXPECT_LE(refused.wait_ms, 61'000);
  }
  EXPECT_EQ(take({.owner = "bob", .limits = {.requests_per_minute = 3}, .requests = 1}).beyond,
            Beyond::nothing);
  LimitWish raised = wish;
  raised.limits.requests_per_minute = 0;
  EXPECT_EQ(take(raised).beyond, Beyond::nothing);
}

TEST_P(LimitsContract, ReservesTheTokensOfAMinute) {
  const KeyLimits limits{.tokens_per_minute = 600};
  const LimitGrant first = take({.owner = "ann", .limits = limits, .input = 400, .answer = 100});
  EXPECT_EQ(first.beyond, Beyond::nothing);
  EXPECT_EQ(first.answer, 100);
  EXPECT_EQ(first.state.tokens_left, 100);
  EXPECT_EQ(take({.owner = "ann", .limits = limits, .input = 101}).beyond, Beyond::minute);
  EXPECT_EQ(take({.owner = "ann", .limits = limits, .look_minute = 100}).beyond, Beyond::nothing);
  EXPECT_EQ(take({.owner = "ann", .limits = limits, .look_minute = 101}).beyond, Beyond::minute);
  settle(first.share, 20);
  const LimitGrant second = take({.owner = "ann", .limits = limits, .input = 580});
  EXPECT_EQ(second.beyond, Beyond::nothing);
  EXPECT_EQ(second.state.tokens_left, 0);
}

TEST_P(LimitsContract, ChargesWhatWasUsedAboveTheReservation) {
  const KeyLimits limits{.tokens_per_minute = 600};
  const LimitGrant first = take({.owner = "ann", .limits = limits, .input = 100});
  settle(first.share, 300);
  EXPECT_EQ(take({.owner = "ann", .limits = limits, .input = 301}).beyond, Beyond::minute);
  EXPECT_EQ(take({.owner = "ann", .limits = limits, .input = 300}).beyond, Beyond::nothing);
}

TEST_P(LimitsContract, OneThatIsLargerThanAMinuteNeedsAWholeOne) {
  const KeyLimits limits{.tokens_per_minute = 100};
  EXPECT_EQ(take({.owner = "ann", .limits = limits, .input = 1'000}).beyond, Beyond::nothing);
  EXPECT_EQ(take({.owner = "ann", .limits = limits, .input = 1}).beyond, Beyond::minute);
}

TEST_P(LimitsContract, KeepsTheBudgetOfADay) {
  const KeyLimits limits{.tokens_per_day = 1'000};
  const LimitGrant first = take({.owner = "ann", .limits = limits, .input = 500, .answer = 400});
  EXPECT_EQ(first.beyond, Beyond::nothing);
  EXPECT_EQ(first.state.reserved, 900);
  EXPECT_EQ(take({.owner = "ann", .limits = limits, .input = 101}).beyond, Beyond::day_for_now);
  EXPECT_EQ(take({.owner = "ann", .limits = limits, .input = 1'001}).beyond, Beyond::day);
  const auto settled = settle(first.share, 890);
  EXPECT_EQ(settled.used_before, 0);
  EXPECT_EQ(settled.state.used, 890);
  EXPECT_EQ(settled.state.reserved, 0);
  EXPECT_EQ(take({.owner = "ann", .limits = limits, .look_day = 110}).beyond, Beyond::nothing);
  EXPECT_EQ(take({.owner = "ann", .limits = limits, .look_day = 111}).beyond, Beyond::day);
  EXPECT_EQ(settle({.owner = "ann"}, 110).state.used, 1'000);
  EXPECT_EQ(take({.owner = "ann", .limits = limits, .look_day = 1}).beyond, Beyond::day);
  // What needs no tokens is not refused for them, above the budget either.
  settle({.owner = "ann"}, 500);
  EXPECT_EQ(take({.owner = "ann", .limits = limits, .requests = 1}).beyond, Beyond::nothing);
}

TEST_P(LimitsContract, TakesNothingWhereOneLimitDoesNotAllowIt) {
  const KeyLimits limits{.requests_per_minute = 5, .tokens_per_minute = 100, .tokens_per_day = 50};
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(take({.owner = "ann", .limits = limits, .requests = 1, .input = 60}).beyond, Beyond::day);
  const LimitGrant grant = take({.owner = "ann", .limits = limits, .requests = 1, .input = 10});
  EXPECT_EQ(grant.beyond, Beyond::nothing);
  EXPECT_EQ(grant.state.requests_left, 4);
  EXPECT_EQ(grant.state.tokens_left, 90);
  EXPECT_EQ(grant.state.reserved, 10);
}

TEST_P(LimitsContract, AnAnswerThatMayShrinkGetsAPartOfWhatIsLeft) {
  const KeyLimits limits{.tokens_per_day = 5'000};
  const LimitWish wish{
      .owner = "ann", .limits = limits, .input = 8, .answer = 100'000, .answer_may_shrink = true};
  Tokens sum = 0;
  int granted = 0;
  for (LimitGrant grant = take(wish); grant.beyond == Beyond::nothing; grant = take(wish)) {
    EXPECT_TRUE(granted > 0 || grant.answer == 1'250);
    EXPECT_GT(grant.answer, 0);
    sum += 8 + grant.answer;
    ASSERT_LT(++granted, 50);
  }
  EXPECT_GT(granted, 5);
  EXPECT_LE(sum, 5'000);
  EXPECT_GT(sum, 4'980);
}

TEST_P(LimitsContract, DoesManyStepsTogetherThoseOfAnOwnerInTheirOrder) {
  const KeyLimits limits{.requests_per_minute = 2, .tokens_per_day = 1'000};
  std::vector<LimitStep> steps;
  for (int i = 0; i < 3; ++i)
    for (const char* owner : {"bob", "ann", "cid"})
      steps.emplace_back(
          LimitWish{.owner = owner, .limits = limits, .requests = 1, .input = *owner == 'a' ? 600 : 100});
  const auto done = store_->work(steps);
  ASSERT_TRUE(done) << done.error().what;
  ASSERT_EQ(done->size(), steps.size());
  std::vector<Beyond> beyond;
  for (const LimitDone& one : *done) beyond.push_back(std::get<LimitGrant>(one).beyond);
  EXPECT_EQ(beyond, (std::vector<Beyond>{Beyond::nothing, Beyond::nothing, Beyond::nothing,  //
                                         Beyond::nothing, Beyond::day_for_now, Beyond::nothing,
                                         Beyond::requests, Beyond::day_for_now, Beyond::requests}));
  const LimitShare share = std::get<LimitGrant>((*done)[1]).share;
  EXPECT_EQ(share.owner, "ann");
  const LimitWish wish{.owner = "ann", .limits = limits, .requests = 1, .input = 600};
  const auto after = store_->work(std::vector<LimitStep>{wish, LimitUse{share, 50}, wish});
  ASSERT_TRUE(after);
  EXPECT_EQ(std::get<LimitGrant>((*after)[0]).beyond, Beyond::day_for_now);
  EXPECT_EQ(std::get<LimitUsed>((*after)[1]).state.used, 50);
  EXPECT_EQ(std::get<LimitGrant>((*after)[2]).beyond, Beyond::nothing);
  EXPECT_EQ(std::get<LimitGrant>((*after)[2]).state.reserved, 600);
  EXPECT_TRUE(store_->work({})->empty());
}

// Calls that take of the same owners in another order wait for each other and never in a circle.
TEST_P(LimitsContract, StepsOfManyOwnersAtOnceTakeNoMoreThanThereIs) {
  const KeyLimits limits{.requests_per_minute = 100};
  std::atomic<int> taken = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random{t};
      for (int i = 0; i < 20; ++i) {
        std::vector<LimitStep> steps;
        for (const char* owner : {"ann", "bob", "cid", "dan"})
          steps.emplace_back(LimitWish{.owner = owner, .limits = limits, .requests = 1});
        std::ranges::shuffle(steps, random);
        const auto done = store_->work(steps);
        ASSERT_TRUE(done) << done.error().what;
        for (const LimitDone& one : *done)
          taken += std::get<LimitGrant>(one).beyond == Beyond::nothing ? 1 : 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, 400);
}

TEST_P(LimitsContract, ManyAtOnceTakeNoMoreThanThereIs) {
  const KeyLimits limits{.requests_per_minute = 100, .tokens_per_day = 1'000'000};
  std::atomic<int> taken = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i)
        taken += take({.owner = "ann", .limits = limits, .requests = 1}).beyond == Beyond::nothing ? 1 : 0;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, 100);
}

TEST_P(LimitsContract, ReservationsAtRandomNeverExceedTheDayAndLeaveNothingBehind) {
  constexpr Tokens budget = 20'000;
  const KeyLimits limits{.tokens_per_day = budget};
  std::atomic<Tokens> used = 0;
  std::atomic<int> served = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random{t};
      for (int i = 0; i < 60; ++i) {
        const Tokens input = random() % 500, answer = random() % 500;
        const LimitGrant grant = take({.owner = "ann",
                                       .limits = limits,
                                       .input = input,
                                       .answer = answer,
                                       .answer_may_shrink = random() % 2 == 0});
        if (grant.beyond != Beyond::nothing) continue;
        EXPECT_LE(grant.state.used + grant.state.reserved, budget);
        const Tokens mine = (input + grant.answer) / 2;
        used += mine;
        ++served;
        settle(grant.share, mine);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(served, 20);
  const auto end = settle({.owner = "ann"}, 0);
  EXPECT_EQ(end.state.used, used);
  EXPECT_LE(end.state.used, budget);
  EXPECT_EQ(end.state.reserved, 0);
}

}  // namespace plimsoll
