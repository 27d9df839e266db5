#include "ledger/cost.hpp"

#include <random>

#include <gtest/gtest.h>

namespace plimsoll::ledger {
namespace {

// 2.50, 10, 1.25, 3.75 and 5 dollars per million tokens.
constexpr Prices prices{.input = 2'500'000,
                        .output = 10'000'000,
                        .cached_input = 1'250'000,
                        .cache_write = 3'750'000,
                        .cache_write_hour = 5'000'000};

Usage usage(Tokens input, Tokens answer) {
  return {.input = input, .answer = answer};
}

TEST(Cost, AddsEveryKindOfTokenAtItsOwnPrice) {
  Usage used = usage(1'000, 100);
  EXPECT_EQ(cost_of(prices, used).nano_usd, 1'000 * 2'500 + 100 * 10'000);
  used.cached = 600;
  used.written = 300;
  used.written_hour = 100;
  used.thinking = 40;  // part of the answer
  EXPECT_EQ(cost_of(prices, used).nano_usd,
            100 * 2'500 + 600 * 1'250 + 200 * 3'750 + 100 * 5'000 + 100 * 10'000);
}

TEST(Cost, PaysForThinkingThatIsReportedBesideTheAnswer) {
  Usage used = usage(37, 530);
  used.thinking = 233;
  used.total = 800;
  EXPECT_EQ(cost_of(prices, used).nano_usd, 37 * 2'500 + 763 * 10'000);
  used.total = 567;
  EXPECT_EQ(cost_of(prices, used).nano_usd, 37 * 2'500 + 530 * 10'000);
  used.total = 3;  // less than its parts
  EXPECT_EQ(cost_of(prices, used).nano_usd, 37 * 2'500 + 530 * 10'000);
}

TEST(Cost, IsRoundedOnce) {
  const Prices odd{.input = 37'500, .output = 150'400};  // 37.5 and 150.4 billionths per token
  EXPECT_EQ(cost_of(odd, usage(1, 0)).nano_usd, 38);
  EXPECT_EQ(cost_of(odd, usage(2, 0)).nano_usd, 75);
  EXPECT_EQ(cost_of(odd, usage(0, 1)).nano_usd, 150);
  EXPECT_EQ(cost_of(odd, usage(1'000'001, 3)).nano_usd, 37'500'489);  // 37'500'037.5 + 451.2
}

TEST(Cost, IsNotKnownWhereSomethingIsMissing) {
  const auto why = [](const std::optional<Prices>& of, const Usage& used) {
    const Cost cost = cost_of(of, used);
    EXPECT_FALSE(cost.nano_usd);
    return cost.why;
  };
  EXPECT_NE(why(std::nullopt, usage(1, 1)).find("no price"), std::string::npos);
  EXPECT_NE(why(prices, {.input = 1}).find("did not report"), std::string::npos);
  EXPECT_NE(why(prices, {.answer = 1}).find("did not report"), std::string::npos);
  Usage used = usage(100, 1);
  used.cached = 101;
  EXPECT_NE(why(prices, used).find("contradicts"), std::string::npos);
  used = usage(100, 1);
  used.written = 5;
  used.written_hour = 6;
  EXPECT_NE(why(prices, used).find("contradicts"), std::string::npos);
  used = usage(100, 1);
  used.has_other_price = true;
  EXPECT_NE(why(prices, used).find("tier"), std::string::npos);
  Prices tiered = prices;
  tiered.longest_prompt = 100;
  EXPECT_TRUE(cost_of(tiered, usage(100, 1)).nano_usd);
  EXPECT_NE(why(tiered, usage(101, 1)).find("more than 100"), std::string::npos);
  const Prices plain{.input = 1, .output = 1};
  used = usage(100, 1);
  used.cached = 1;
  EXPECT_NE(why(plain, used).find("cache"), std::string::npos);
  used.cached = 0;
  EXPECT_TRUE(cost_of(plain, used).nano_usd);
}

TEST(Cost, NoNumberFromOutsideOverflows) {
  std::mt19937_64 rng(7);
  const Tokens edges[] = {INT64_MIN, -1, 0, 1, 1'000, most_reported, most_reported + 1, INT64_MAX};
  const auto any = [&] { return edges[rng() % std::size(edges)]; };
  const Prices dear{most_price, most_price, most_price, most_price, most_price};
  int known = 0;
  for (int round = 0; round < 20'000; ++round) {
    Usage used{.input = any(), .answer = any(), .cached = any(), .written = any(), .total = any()};
    const Cost cost = cost_of(dear, used);
    if (!cost.nano_usd) continue;
    ++known;
    EXPECT_GE(*cost.nano_usd, 0);
    EXPECT_LE(*cost.nano_usd, 2 * most_reported * (most_price / 1'000));
  }
  EXPECT_GT(known, 100);
  EXPECT_EQ(add_cost(most_cost, most_cost), most_cost);
  EXPECT_EQ(add_cost(-5, 3), 3);
}

TEST(Cost, IsShownInDollars) {
  const std::pair<std::int64_t, const char*> shown[] = {{0, "$0.000000"},
                                                        {1, "$0.000000001"},
                                                        {999, "$0.000000999"},
                                                        {1'000, "$0.000001"},
                                                        {1'234'567, "$0.001235"},
                                                        {999'999'999, "$1.000000"},
                                                        {1'000'000'000, "$1.00"},
                                                        {1'234'565'000'000, "$1,234.57"},
                                                        {most_cost, "$9,000,000.00"}};
  for (const auto& [cost, text] : shown) EXPECT_EQ(in_dollars(cost), text);
  EXPECT_EQ(per_million(2'500'000), "2.50");
  EXPECT_EQ(per_million(37'500), "0.0375");
  EXPECT_EQ(per_million(0), "0.00");
  EXPECT_EQ(per_million(most_price), "10000.00");
}

TEST(Cost, OfSeveralRepliesIsKnownIfAllAre) {
  const Cost one{1, {}}, two{2, {}}, none{std::nullopt, "why"};
  EXPECT_EQ(sum_of(one, two).nano_usd, 3);
  EXPECT_EQ(sum_of({}, two), two);
  EXPECT_EQ(sum_of(one, {}), one);
  EXPECT_EQ(sum_of(one, none), none);
  EXPECT_EQ(sum_of(none, two), none);
}

}  // namespace
}  // namespace plimsoll::ledger
