#include "plimsoll/fallback.hpp"

#include <gtest/gtest.h>

#include "window/testing_catalogue.hpp"

namespace plimsoll {
namespace {

// The model has 128,000 tokens; its messages as given, with the buffer of 35,000.
FallbackDecision decide(Tokens messages, std::vector<std::string> allowed, std::string current = "gpt-4o",
                        Tokens window = 128'000) {
  return choose_fallback({.current = std::move(current),
                          .window = window,
                          .total = fallback_total(messages),
                          .enabled = true,
                          .allowed = std::move(allowed)},
                         catalogue());
}

TEST(FallbackF1, LeavesASmallChatWhereItIs) {
  const FallbackDecision hello = decide(9, {"gpt-5-mini"});
  EXPECT_FALSE(hello.needed);
  EXPECT_EQ(hello.to, "");
  EXPECT_EQ(hello.threshold, 115'200);
  const FallbackDecision large = decide(20, {"gpt-5-mini"}, "qwen3-235b-a22b", 262'144);
  EXPECT_EQ(large.total, 35'020);
  EXPECT_EQ(large.threshold, 235'929);
  EXPECT_FALSE(large.needed);
}

TEST(FallbackF2, TakesOnlyWhatAServerListsAndByItsName) {
  const FallbackDecision decision = choose_fallback(
      {.current = "gpt-4o",
       .window = 128'000,
       .total = 135'000,
       .enabled = true,
       .allowed = {"gemini-2.5-flash", "gpt-4o", "qwen3-235b-a22b"}},
      [](std::string_view model) -> std::optional<Tokens> {
        return model == "Qwen/Qwen3-235B-A22B" ? std::optional<Tokens>(262'144) : std::nullopt;
      },
      [](std::string_view a, std::string_view b) { return a == b; },
      [](std::string_view model) -> std::optional<std::string> {
        if (model == "qwen3-235b-a22b") return "Qwen/Qwen3-235B-A22B";
        return model == "gpt-4o" ? std::optional<std::string>("gpt-4o") : std::nullopt;
      });
  EXPECT_EQ(decision.to, "Qwen/Qwen3-235B-A22B");
  EXPECT_EQ(decision.from_window, 128'000);
  EXPECT_EQ(decision.to_window, 262'144);
  ASSERT_EQ(decision.considered.size(), 3U);
  EXPECT_EQ(decision.considered[0].verdict, "no upstream lists it");
  EXPECT_EQ(decision.considered[1].verdict, "is the current model");
}

TEST(FallbackF1, IsNeededAboveNineTenthsAndNotAt) {
  EXPECT_FALSE(decide(115'200 - 35'000, {"gpt-5-mini"}).needed);
  EXPECT_TRUE(decide(115'201 - 35'000, {"gpt-5-mini"}).needed);
}

TEST(FallbackF1, SaysWhenHistoryShouldBeCompressed) {
  EXPECT_FALSE(decide(108'800 - 35'000, {}).compression_due);
  EXPECT_TRUE(decide(108'801 - 35'000, {}).compression_due);
}

TEST(FallbackF2, TakesTheFirstThatIsLargeEnough) {
  EXPECT_EQ(decide(100'000, {"gpt-5-mini"}).to, "gpt-5-mini");
  EXPECT_EQ(decide(87'500, {"gpt-4o", "qwen3-235b-a22b", "gpt-5-mini", "gemini-2.5-flash"}).to,
            "qwen3-235b-a22b");
  const FallbackDecision both = decide(500'000, {"gpt-5-mini", "gemini-2.5-flash"});
  EXPECT_EQ(both.to, "gemini-2.5-flash");
  ASSERT_EQ(both.considered.size(), 2U);
  EXPECT_EQ(both.considered[0].verdict, "its window of 400,000 is below the 588,500 required");
  EXPECT_EQ(both.considered[1].verdict, "its window of 1,048,576 fits the 588,500 required");
}

TEST(FallbackF2, SkipsTheCurrentModelByWhateverName) {
  const FallbackDecision decision = decide(100'000, {"openai/gpt-4o-2024-08-06", "GPT-5-mini"});
  EXPECT_EQ(decision.to, "GPT-5-mini");
  EXPECT_EQ(decision.considered[0].verdict, "is the current model");
}

TEST(FallbackF2, KeepsTheModelWhereNoneIsLargeEnough) {
  const FallbackDecision decision = decide(1'250'000, {"gemini-2.5-flash"}, "gpt-5-mini", 400'000);
  EXPECT_TRUE(decision.needed);
  EXPECT_EQ(decision.to, "");
  EXPECT_EQ(decision.required, 1'413'500);
  EXPECT_NE(decision.reason.find("1,413,500"), std::string::npos) << decision.reason;
}

TEST(FallbackF2, PassesOverModelsThatNobodyKnows) {
  const FallbackDecision decision = decide(100'000, {"no-such-model", "gpt-5-mini"});
  EXPECT_EQ(decision.to, "gpt-5-mini");
  EXPECT_EQ(decision.considered[0].verdict, "its window is not known");
}

TEST(FallbackF2, WarnsOfAnEmptyList) {
  const FallbackDecision decision = decide(100'000, {});
  EXPECT_EQ(decision.to, "");
  EXPECT_NE(decision.reason.find("LLM_ALLOWED_FALLBACK_MODELS is empty"), std::string::npos);
}

TEST(FallbackF3, IsOffUnlessAskedFor) {
  const FallbackDecision decision = choose_fallback(
      {.current = "gpt-4o", .window = 128'000, .total = 135'000, .enabled = false, .allowed = {"gpt-5-mini"}},
      catalogue());
  EXPECT_TRUE(decision.needed);
  EXPECT_EQ(decision.to, "");
  EXPECT_TRUE(decision.considered.empty());
  EXPECT_NE(decision.reason.find("LLM_FALLBACK_ENABLED"), std::string::npos);
}

}  // namespace
}  // namespace plimsoll
