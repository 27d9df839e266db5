// Rules S1 to S4, with the cases of docs/rules.md.
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "plimsoll/strategy.hpp"

namespace plimsoll {
namespace {

constexpr Tokens most_tokens = std::numeric_limits<Tokens>::max();

ContextBudget at(Tokens used) {
  return {.context_length = 256'000, .used_tokens = used, .threshold_tokens = 128'000};
}
ContextBudget of_thousand(Tokens used) {
  return {.context_length = 1'000, .used_tokens = used};
}

TEST(Pressure, IsUsedOverTheThreshold) {
  EXPECT_LT(at(10'000).pressure(), 0.1);
  EXPECT_DOUBLE_EQ(at(128'000).pressure(), 1.0);
  EXPECT_DOUBLE_EQ(at(192'000).pressure(), 1.5) << "there is more than full";
  EXPECT_DOUBLE_EQ((ContextBudget{.context_length = 200, .used_tokens = 50}.pressure()), 0.25);
  EXPECT_EQ((ContextBudget{.context_length = 0, .used_tokens = 10, .threshold_tokens = 5}.pressure()), 0.0);
  EXPECT_EQ((ContextBudget{.context_length = -1, .used_tokens = 10}.pressure()), 0.0);
  EXPECT_EQ(at(-5).pressure(), 0.0);
}

TEST(Pressure, HasItsLevels) {
  using enum PressureLevel;
  EXPECT_EQ(at(10'000).level(), stuff);
  EXPECT_EQ(at(64'000).level(), hybrid);
  EXPECT_EQ(at(100'000).level(), selective);
  EXPECT_EQ(of_thousand(299).level(), stuff);
  EXPECT_EQ(of_thousand(300).level(), hybrid);
  EXPECT_EQ(of_thousand(699).level(), hybrid);
  EXPECT_EQ(of_thousand(700).level(), selective);
  EXPECT_EQ(ContextBudget{}.level(), stuff);
  // One token below the border, where a quotient of doubles would round up to it.
  EXPECT_EQ(
      (ContextBudget{.context_length = 9'000'000'000'000'000'000, .used_tokens = 2'699'999'999'999'999'999}
           .level()),
      stuff);
  EXPECT_EQ((ContextBudget{.context_length = 1, .used_tokens = most_tokens}.level()), selective);
}

TEST(Prefetch, FollowsThePressure) {
  const Prefetch low = prefetch(at(10'000));
  EXPECT_EQ(low.limit, 15);
  EXPECT_EQ(low.min_trust, 0.2);
  EXPECT_FALSE(low.skip);
  const Prefetch medium = prefetch(at(64'000));
  EXPECT_EQ(medium.limit, 5);
  EXPECT_EQ(medium.min_trust, 0.3);
  EXPECT_FALSE(medium.skip);
  const Prefetch high = prefetch(at(100'000));
  EXPECT_EQ(high.limit, 2);
  EXPECT_EQ(high.min_trust, 0.5);
  EXPECT_FALSE(high.skip);
}

TEST(Prefetch, IsSkippedAboveNinetyFivePercent) {
  using enum PressureLevel;
  EXPECT_TRUE(prefetch(at(125'000)).skip);
  EXPECT_FALSE(prefetch(of_thousand(950)).skip);
  const Prefetch none = prefetch(of_thousand(951));
  EXPECT_TRUE(none.skip);
  EXPECT_EQ(none.limit, 0);
  EXPECT_EQ(none.min_trust, 1.0);
  EXPECT_EQ(none.level, selective);
}

TEST(Prefetch, ScalesTheLimitItIsGiven) {
  EXPECT_EQ(prefetch(at(10'000), 10).limit, 30);
  EXPECT_EQ(prefetch(at(100'000), 1).limit, 1);
  EXPECT_EQ(prefetch(at(100'000), 8).limit, 3);
  EXPECT_EQ(prefetch(at(100'000), 10).limit, 4);
  EXPECT_EQ(prefetch(at(100'000), 0).limit, 1);
  EXPECT_EQ(prefetch(at(64'000), -7).limit, 1);
  EXPECT_EQ(prefetch(at(10'000), most_tokens).limit, most_tokens);
  EXPECT_EQ(prefetch(at(100'000), most_tokens).limit, most_tokens / 5 * 2 + most_tokens % 5 * 2 / 5);
}

TEST(ShouldPrefetch, FollowsTheCases) {
  EXPECT_TRUE(should_prefetch(at(10'000), ""));
  EXPECT_TRUE(should_prefetch(at(10'000), "anything at all"));
  EXPECT_TRUE(should_prefetch(at(80'000), "what did we discuss about the config?"));
  EXPECT_TRUE(should_prefetch(at(80'000), "remember when we set up the server?"));
  EXPECT_FALSE(should_prefetch(at(80'000), "write me a poem about clouds"));
  EXPECT_TRUE(should_prefetch(at(110'000), "who is Alexander?"));
  std::string essay;
  for (int i = 0; i < 10; ++i) essay += "write a comprehensive essay about the history of computing ";
  ASSERT_EQ(essay.size(), 590U);
  EXPECT_FALSE(should_prefetch(at(110'000), essay));
}

TEST(ShouldPrefetch, HasItsBorders) {
  EXPECT_TRUE(should_prefetch(of_thousand(499), "clouds"));
  EXPECT_FALSE(should_prefetch(of_thousand(500), "clouds"));
  const std::string shorter = "recall " + std::string(192, 'x');
  const std::string longer = "recall " + std::string(193, 'x');
  ASSERT_EQ(longer.size(), 200U);
  EXPECT_TRUE(should_prefetch(of_thousand(799), longer));
  EXPECT_TRUE(should_prefetch(of_thousand(800), shorter));
  EXPECT_FALSE(should_prefetch(of_thousand(800), longer));
  std::string umlauts = "recall ";
  for (int i = 0; i < 192; ++i) umlauts += "ü";
  EXPECT_TRUE(should_prefetch(of_thousand(800), umlauts)) << "199 characters in 391 bytes";
}

TEST(ShouldPrefetch, KnowsEverySignal) {
  for (const char* query : {"Remember?", "RECALL it", "what did you", "who is he", "last time", "previously",
                            "before that", "fact_store", "memory", "memories", "I told you", "you mentioned",
                            "he said", "the project", "config", "configuration", "setup"})
    EXPECT_TRUE(should_prefetch(of_thousand(600), query)) << query;
  for (const char* query : {"clouds", "what he did", "unsaid", "told, you", "therefore", "who was"})
    EXPECT_FALSE(should_prefetch(of_thousand(600), query)) << query;
}

TEST(PressureReport, SaysWhatIsDone) {
  const std::string half = pressure_report(at(64'000));
  EXPECT_NE(half.find("Context Strategy: HYBRID"), std::string::npos) << half;
  EXPECT_NE(half.find("50.0%"), std::string::npos) << half;
  EXPECT_NE(half.find("64,000 / 256,000"), std::string::npos) << half;
  EXPECT_NE(half.find("128,000"), std::string::npos) << half;
  EXPECT_NE(half.find("standard retrieval"), std::string::npos) << half;
  const std::string low = pressure_report(at(10'000));
  EXPECT_NE(low.find("STUFF"), std::string::npos) << low;
  EXPECT_NE(low.find("generously"), std::string::npos) << low;
  EXPECT_NE(low.find("15 facts"), std::string::npos) << low;
  EXPECT_NE(low.find("0.2"), std::string::npos) << low;
  const std::string tight = pressure_report(at(125'000));
  EXPECT_NE(tight.find("SELECTIVE"), std::string::npos) << tight;
  EXPECT_NE(tight.find("prefer on-demand tools"), std::string::npos) << tight;
  EXPECT_NE(tight.find("yes"), std::string::npos) << tight;
}

// More pressure never fetches more, nor trusts less.
TEST(Prefetch, NeverGrowsWithThePressure) {
  std::mt19937_64 rng{3};
  int skipped = 0, moved = 0;
  for (int round = 0; round < 100'000; ++round) {
    const auto length = static_cast<Tokens>(rng() % 2'000'000) + 1;
    const auto threshold = static_cast<Tokens>(rng() % 3 == 0 ? 0 : rng() % 2'000'000);
    const auto used = static_cast<Tokens>(rng() % 2'000'000);
    const auto more = used + static_cast<Tokens>(rng() % 500'000);
    const auto base = static_cast<std::int64_t>(rng() % 40) + 1;
    const Prefetch before = prefetch({length, used, threshold, true}, base);
    const Prefetch after = prefetch({length, more, threshold, true}, base);
    ASSERT_LE(after.limit, before.limit);
    ASSERT_GE(after.min_trust, before.min_trust);
    ASSERT_EQ(after.limit == 0, after.skip);
    skipped += after.skip ? 1 : 0;
    moved += after.level != before.level ? 1 : 0;
  }
  EXPECT_GT(skipped, 10'000);
  EXPECT_GT(moved, 1'000);
}

}  // namespace
}  // namespace plimsoll
