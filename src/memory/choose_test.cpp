#include "memory/choose.hpp"

#include <random>

#include <gtest/gtest.h>

#include "memory/fact_text.hpp"

namespace plimsoll::memory {
namespace {

constexpr std::int64_t day = std::int64_t{24} * 3600 * 1000, now = 1'000 * day;

RecalledFact fact(const std::string& id, double importance = 0.9, double trust = 0.9, std::int64_t days = 0) {
  RecalledFact one;
  one.fact.id = id;
  one.fact.text = "about " + id;
  one.fact.importance = importance;
  one.fact.trust = trust;
  one.fact.updated_ms = now - days * day;
  return one;
}

TEST(Choose, GivesTheReasonForEachThatStaysBehind) {
  std::vector<RecalledFact> found{fact("good"),
                                  fact("doubted", 0.9, 0.29),
                                  fact("trifle", 0.6),
                                  fact("old", 0.9, 0.9, 8),
                                  fact("week", 0.9, 0.9, 7),
                                  fact("far"),
                                  fact("second"),
                                  fact("third")};
  found[5].related = false;
  const Chosen chosen = choose(std::move(found), {.limit = 3, .min_trust = 0.3, .now_ms = now}, true);
  std::string aboard;
  for (const RecalledFact& one : chosen.facts) aboard += one.fact.id + " ";
  EXPECT_EQ(aboard, "good week second ");
  std::string left;
  for (const LeftFact& one : chosen.left) left += one.id + ": " + one.reason + "\n";
  EXPECT_EQ(left,
            "doubted: trust 0.29 is below 0.30\n"
            "trifle: importance 0.60 is not above 0.60\n"
            "old: 8 days old; at most 7 are allowed\n"
            "far: not related to the question\n"
            "third: only the best 3 are considered\n");
}

TEST(Choose, TheFilterIsForThoseThatItIsMeantFor) {
  const ChooseRules rules{.limit = 9, .min_trust = 0.3, .only_related = false, .now_ms = now};
  EXPECT_EQ(choose({fact("a", 0.1, 0.9, 900)}, rules, false).facts.size(), 1U);
  EXPECT_EQ(choose({fact("a", 0.1, 0.9, 900)}, rules, true).facts.size(), 0U);
  EXPECT_EQ(choose({fact("a"), fact("a")}, rules, false).left.at(0).why, Left::repeated);
  RecalledFact odd = fact("a");
  odd.fact.trust = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(choose({odd}, rules, false).facts.size(), 0U);
}

// For any ratings of a fact, in any order.
TEST(Trust, StaysWithinItsBoundsAndMovesByItsSteps) {
  std::mt19937 random{1876};
  int at_top = 0, at_bottom = 0;
  for (int round = 0; round < 2'000; ++round) {
    double trust = std::uniform_real_distribution<>(-0.5, 1.5)(random);
    const double kindness = std::uniform_real_distribution<>(0, 1)(random);
    for (int step = 0; step < 100; ++step) {
      const bool helpful = std::bernoulli_distribution(kindness)(random);
      const double before = std::clamp(trust, 0.0, 1.0);
      trust = trust_after(trust, helpful);
      ASSERT_GE(trust, 0);
      ASSERT_LE(trust, 1);
      ASSERT_NEAR(trust, std::clamp(before + (helpful ? 0.05 : -0.10), 0.0, 1.0), 0.0051);
      at_top += trust == 1;
      at_bottom += trust == 0;
    }
  }
  EXPECT_GT(at_top, 100);
  EXPECT_GT(at_bottom, 100);
  double long_history = 0.5;
  for (int i = 0; i < 10'000; ++i) {
    long_history = trust_after(trust_after(trust_after(long_history, true), true), false);
  }
  EXPECT_DOUBLE_EQ(long_history, 0.5);
}

TEST(FactText, IsOneLineWhateverCame) {
  EXPECT_EQ(one_line("  Ann\n\nlikes\ttea \r\n"), "Ann likes tea");
  EXPECT_EQ(one_line("a\xE2\x80\xA8"
                     "b\xC2\x85"
                     "c"),
            "a b c");
  EXPECT_EQ(one_line(std::string("a\0b\x1b[2J", 7)), "a b [2J");
  EXPECT_EQ(one_line("\n \t"), "");
  EXPECT_EQ(one_line("Tee f\xC3\xBCr \xE2\x82\xAC 2"), "Tee f\xC3\xBCr \xE2\x82\xAC 2");
}

TEST(Choose, FindsTheOneThatMayComeBehindManyThatMayNot) {
  std::vector<RecalledFact> found(200, fact("old"));
  for (RecalledFact& one : found) one.fact.trust = 0;
  found.push_back(fact("new"));
  ChooseRules rules;
  rules.limit = 5;
  rules.min_trust = 0.3;
  const Chosen chosen = choose(found, rules, false);
  ASSERT_EQ(chosen.facts.size(), 1U);
  EXPECT_EQ(chosen.left.size(), 50U);
}

}  // namespace
}  // namespace plimsoll::memory
