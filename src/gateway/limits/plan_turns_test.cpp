#include "gateway/limits/plan_turns.hpp"

#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace plimsoll::gateway {
namespace {

TEST(PlanTurns, AsManyBeginAsThereIsMemoryFor) {
  PlanTurns turns([] { return 250 * planned_per_body_byte; });
  PlanTurns::Turn small(turns, 1, 10);
  auto first = std::make_unique<PlanTurns::Turn>(turns, 1, 100);
  PlanTurns::Turn other(turns, 1, 150), last(turns, 1, 1);
  EXPECT_TRUE(small.has_begun());
  EXPECT_TRUE(first->has_begun());
  EXPECT_FALSE(other.has_begun());
  EXPECT_FALSE(last.has_begun());  // nobody overtakes
  first.reset();
  EXPECT_TRUE(other.has_begun());
  EXPECT_TRUE(last.has_begun());
}

TEST(PlanTurns, OneIsAlwaysPlanned) {
  PlanTurns turns([] { return std::size_t{0}; });
  auto first = std::make_unique<PlanTurns::Turn>(turns, 1, 1'000);
  PlanTurns::Turn second(turns, 1, 1);
  EXPECT_TRUE(first->has_begun());
  EXPECT_FALSE(second.has_begun());
  first.reset();
  EXPECT_TRUE(second.has_begun());
}

TEST(PlanTurns, KeysHaveTurnsOneAfterTheOther) {
  PlanTurns turns([] { return std::size_t{0}; });
  std::vector<std::unique_ptr<PlanTurns::Turn>> noisy;
  for (int i = 0; i < 4; ++i) noisy.push_back(std::make_unique<PlanTurns::Turn>(turns, 1, 10));
  EXPECT_TRUE(noisy[0]->has_begun());
  PlanTurns::Turn quiet(turns, 2, 10);
  noisy[0].reset();
  EXPECT_FALSE(noisy[1]->has_begun());
  EXPECT_TRUE(quiet.has_begun());
}

TEST(PlanTurns, EveryoneHasATurnWhoeverLeaves) {
  std::mt19937 random{11};
  std::size_t free = 0;
  PlanTurns turns([&] { return free; });
  std::vector<std::unique_ptr<PlanTurns::Turn>> all;
  int left = 0;
  for (int round = 0; round < 5'000; ++round) {
    free = random() % 2'000;
    if (all.size() < 20) all.push_back(std::make_unique<PlanTurns::Turn>(turns, random() % 4, random() % 50));
    bool some_begun = false;
    for (const auto& one : all) some_begun |= one->has_begun();
    for (const auto& one : all) some_begun |= one->has_begun();
    EXPECT_TRUE(some_begun);
    if (random() % 3 == 0) {
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(random() % all.size()));
      ++left;
    }
  }
  EXPECT_GT(left, 1'000);
}

}  // namespace
}  // namespace plimsoll::gateway
