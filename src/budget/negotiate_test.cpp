#include <gtest/gtest.h>

#include <random>

#include "budget/apportion.hpp"
#include "plimsoll/budget.hpp"

namespace plimsoll::budget {
namespace {

Section fixed(SectionKind kind, Tokens tokens) {
  return {.kind = kind, .basis = tokens, .min = tokens, .max = tokens};
}

TEST(Negotiate, GivesEverybodyItsBasisWhereThatIsJustTheWindow) {
  const Section sections[] = {fixed(SectionKind::system, 100),
                              {.kind = SectionKind::history, .basis = 300, .max = 300, .shrink = 1},
                              {.kind = SectionKind::answer, .basis = 500, .min = 100, .max = 900, .grow = 1}};
  const auto shares = negotiate(900, sections);
  ASSERT_TRUE(shares) << shares.error().what;
  EXPECT_EQ(shares->grants, (std::vector<Tokens>{100, 300, 500}));
  EXPECT_EQ(shares->left, 0);
}

TEST(Negotiate, ShrinksInProportionToShrinkTimesBasis) {
  const Section sections[] = {{.kind = SectionKind::history, .basis = 600, .max = 600, .shrink = 1},
                              {.kind = SectionKind::context, .basis = 200, .max = 200, .shrink = 3}};
  const auto shares = negotiate(700, sections);  // 100 too many, in shares of 600 to 600
  ASSERT_TRUE(shares) << shares.error().what;
  EXPECT_EQ(shares->grants, (std::vector<Tokens>{550, 150}));
}

TEST(Negotiate, FreezesWhoReachesItsMinimumAndLetsTheOthersSettleTheRest) {
  const Section sections[] = {
      {.kind = SectionKind::history, .basis = 1000, .max = 1000, .shrink = 1},
      {.kind = SectionKind::answer, .basis = 1000, .min = 900, .max = 1000, .shrink = 1}};
  const auto shares = negotiate(1200, sections);
  ASSERT_TRUE(shares) << shares.error().what;
  EXPECT_EQ(shares->grants, (std::vector<Tokens>{300, 900}));
}

TEST(Negotiate, GrowsByWeightUpToTheMaximum) {
  const Section sections[] = {{.kind = SectionKind::context, .basis = 100, .max = 250, .grow = 3},
                              {.kind = SectionKind::answer, .basis = 100, .max = 10'000, .grow = 1}};
  const auto some = negotiate(300, sections);
  ASSERT_TRUE(some) << some.error().what;
  EXPECT_EQ(some->grants, (std::vector<Tokens>{175, 125}));
  const auto more = negotiate(1000, sections);
  ASSERT_TRUE(more) << more.error().what;
  EXPECT_EQ(more->grants, (std::vector<Tokens>{250, 750}));
  const auto plenty = negotiate(20'000, sections);
  ASSERT_TRUE(plenty) << plenty.error().what;
  EXPECT_EQ(plenty->left, 20'000 - 10'250);
}

TEST(Negotiate, BreaksTiesForTheEarlierSection) {
  const Section growing[] = {{.kind = SectionKind::memory, .basis = 0, .max = 9, .grow = 1},
                             {.kind = SectionKind::context, .basis = 0, .max = 9, .grow = 1}};
  EXPECT_EQ(negotiate(5, growing)->grants, (std::vector<Tokens>{3, 2}));
  const Section shrinking[] = {{.kind = SectionKind::memory, .basis = 9, .max = 9, .shrink = 1},
                               {.kind = SectionKind::context, .basis = 9, .max = 9, .shrink = 1}};
  EXPECT_EQ(negotiate(13, shrinking)->grants, (std::vector<Tokens>{7, 6}));
}

// The classic case in which largest remainders take a seat away when a seat is added.
TEST(Negotiate, NeverTakesATokenAwayWhenTheWindowGrows) {
  std::vector<Section> states;
  for (const std::int64_t weight : {503, 503, 160, 160, 96})
    states.push_back({.kind = SectionKind::context, .basis = 0, .max = 1000, .grow = weight});
  std::vector<Tokens> before(states.size(), 0);
  for (Tokens window = 0; window <= 200; ++window) {
    const auto shares = negotiate(window, states);
    ASSERT_TRUE(shares);
    for (std::size_t i = 0; i < states.size(); ++i) EXPECT_GE(shares->grants[i], before[i]) << window;
    before = shares->grants;
  }
}

TEST(Negotiate, RefusesMinimumsThatDoNotFitWithTheNumbers) {
  const Section sections[] = {
      fixed(SectionKind::system, 80),
      {.kind = SectionKind::answer, .basis = 200, .min = 40, .max = 200, .shrink = 1}};
  const auto shares = negotiate(100, sections);
  ASSERT_FALSE(shares);
  EXPECT_EQ(shares.error().code, Errc::over_budget);
  EXPECT_EQ(shares.error().what, "minimums need 120 tokens, the window has 100");
  EXPECT_EQ(least_window(sections), 120);
}

TEST(Negotiate, RefusesSectionsThatContradictThemselves) {
  const auto code_of = [](Tokens window, Section section) {
    const auto shares = negotiate(window, std::span(&section, 1));
    return shares ? std::string("fine")
                  : std::string(name_of(shares.error().code)) + ": " + shares.error().what;
  };
  const SectionKind kind = SectionKind::answer;
  EXPECT_EQ(code_of(10, {.kind = kind, .basis = 5, .min = 6, .max = 7}),
            "bad_input: answer: min 6, basis 5 and max 7 do not rise from 0 to 1,000,000,000,000");
  EXPECT_NE(code_of(10, {.kind = kind, .basis = 8, .max = 7}), "fine");
  EXPECT_NE(code_of(10, {.kind = kind, .basis = 1, .min = -1, .max = 7}), "fine");
  EXPECT_NE(code_of(10, {.kind = kind, .max = 1, .grow = -1}), "fine");
  EXPECT_NE(code_of(10, {.kind = kind, .max = 1, .shrink = heaviest + 1}), "fine");
  EXPECT_NE(code_of(-1, {.kind = kind}), "fine");
  EXPECT_NE(code_of(most_tokens + 1, {.kind = kind}), "fine");
  EXPECT_EQ(code_of(most_tokens, {.kind = kind, .max = most_tokens, .grow = heaviest}), "fine");
}

TEST(Apportion, EqualsServingOneByOne) {
  std::mt19937_64 rng{11};
  int capped = 0, short_of = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<Party> parties(1 + rng() % 10);
    Tokens caps = 0;
    for (Party& party : parties) {
      const auto heavy = rng() % 4 == 0 ? std::uint64_t{1'000'000'000'000} : std::uint64_t{50};
      party = {static_cast<std::int64_t>(rng() % heavy), static_cast<Tokens>(rng() % 200)};
      caps += party.weight > 0 ? party.cap : 0;
    }
    const auto total = static_cast<Tokens>(rng() % 1200);
    const Tie tie = rng() % 2 == 0 ? Tie::earlier : Tie::later;
    const auto expected = apportion_slowly(total, parties, tie);
    ASSERT_EQ(apportion(total, parties, tie), expected) << "round " << round;
    (caps <= total ? short_of : capped) += 1;
  }
  EXPECT_GT(capped, 1000);
  EXPECT_GT(short_of, 1000);
}

TEST(Apportion, SharesOutATrillionTokensExactly) {
  const Party parties[] = {
      {999'999'999'999'999'999, most_tokens}, {1, most_tokens}, {333'333'333'333, most_tokens}};
  const auto served = apportion(most_tokens, parties, Tie::earlier);
  EXPECT_EQ(served[0] + served[1] + served[2], most_tokens);
  EXPECT_EQ(served[1], 0);
  EXPECT_NEAR(static_cast<double>(served[2]), 333'333.0, 1.0);
}

}  // namespace
}  // namespace plimsoll::budget
