#include <gtest/gtest.h>

#include "plimsoll/budget.hpp"

namespace plimsoll::budget {
namespace {

TEST(FairContext, IsAQuarterOfASmallWindow) {
  EXPECT_EQ(fair_context(4'096), 1'024);
  EXPECT_EQ(fair_context(16'000), 4'000);
  EXPECT_EQ(fair_context(1'000'000), 4'000);
}

TEST(ShareOf, TakesARatioAtItsWord) {
  EXPECT_EQ(share_of(1000, 0.6), 600);
  EXPECT_EQ(share_of(10, 0.7), 7);  // 10 * 0.7 is 6.999... in binary
  EXPECT_EQ(share_of(4'111, 0.29), 1'192);
  EXPECT_EQ(share_of(most_tokens, 0.999999), 999'999'000'000);
  EXPECT_EQ(share_of(0, 0.5), 0);
}

TEST(RetrievalRoomB1, FollowsTheWorkedExample) {
  const RetrievalRoom found = retrieval_room(8192, 150, 50, 500);
  EXPECT_EQ(found.usable, 6144);
  EXPECT_EQ(found.overhead, 1212);
  EXPECT_EQ(found.room, 4932);
  EXPECT_EQ(found.top_k, 10);
  EXPECT_EQ(found.max_chunk_tokens, 493);
}

TEST(RetrievalRoomB1, GivesTheSampleOutputsWithTheirOwnMaximum) {
  const RetrievalRoom seven = retrieval_room(8192, 150, 50, 500, {.max_top_k = 7});
  EXPECT_EQ(seven.top_k, 7);
  EXPECT_EQ(seven.max_chunk_tokens, 704);
  const RetrievalRoom eight = retrieval_room(8192, 150, 50, 500, {.max_top_k = 8});
  EXPECT_EQ(eight.top_k, 8);
  EXPECT_EQ(eight.max_chunk_tokens, 616);
}

TEST(RetrievalRoomB1, CountsHistoryInFull) {
  const RetrievalRoom four = retrieval_room(8192, 0, 20, 4 * 1'200);
  EXPECT_EQ(four.room, 812);
  EXPECT_EQ(four.top_k, 4);
  EXPECT_EQ(four.max_chunk_tokens, 203);
}

TEST(RetrievalRoomB1, RetrievesNothingWhereThereIsNoRoom) {
  const RetrievalRoom none = retrieval_room(2048, 1000, 50, 500);
  EXPECT_EQ(none.room, 0);
  EXPECT_EQ(none.top_k, 0);
  EXPECT_EQ(none.max_chunk_tokens, 0);
  const RetrievalRoom little = retrieval_room(2048, 400, 50, 500);  // 74: below one average chunk
  EXPECT_EQ(little.room, 74);
  EXPECT_EQ(little.top_k, 2);
  EXPECT_EQ(little.max_chunk_tokens, 37);
}

TEST(AdjustedMaxTokensB2, FollowsTheWorkedExamples) {
  EXPECT_EQ(adjusted_max_tokens(128'000, 1'750, 3'000).tokens, 3'000);
  EXPECT_FALSE(adjusted_max_tokens(128'000, 1'750, 3'000).reduced);
  EXPECT_EQ(adjusted_max_tokens(16'385, 13'000, 5'000).tokens, 3'285);
  EXPECT_TRUE(adjusted_max_tokens(16'385, 13'000, 5'000).reduced);
  EXPECT_EQ(adjusted_max_tokens(16'000, 15'500, 3'000).tokens, 500);
}

TEST(SafeMessageCountB3, DividesByAnAverageMessage) {
  EXPECT_EQ(safe_message_count(128'000), 512);
  EXPECT_EQ(safe_message_count(4'096), 16);
  EXPECT_EQ(safe_message_count(249), 0);
  EXPECT_EQ(safe_message_count(std::nullopt), 32);
}

TEST(ContextBudgetB4, FollowsTheWorkedExample) {
  EXPECT_EQ(context_budget(8192, 500, 1000, 0.6), 600);
  EXPECT_EQ(context_budget(8192, 500, std::nullopt, 0.5), 3771);  // of 7,542
  EXPECT_EQ(context_budget(8192, 8100, std::nullopt, 0.5), 0);
}

TEST(ContextBudgetB4, RefusesOtherRatios) {
  EXPECT_TRUE(context_budget(8192, 0, 1000, 0.2));
  EXPECT_TRUE(context_budget(8192, 0, 1000, 0.8));
  for (const double ratio : {0.19, 0.81, -1.0, std::nan("")}) {
    const auto refused = context_budget(8192, 0, 1000, ratio);
    ASSERT_FALSE(refused) << ratio;
    EXPECT_EQ(refused.error().code, Errc::bad_input);
  }
}

TEST(AnswerWithinB5, LowersWhatIsOverAndRefusesAPromptWithoutRoom) {
  const auto lowered = answer_within(8192, 500, 8000);
  ASSERT_TRUE(lowered);
  EXPECT_EQ(lowered->tokens, 7692);
  EXPECT_TRUE(lowered->reduced);
  EXPECT_FALSE(answer_within(8192, 500, 7692)->reduced);
  for (const Tokens prompt : {8192, 9000}) {
    const auto refused = answer_within(8192, prompt, 10);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::over_budget);
    EXPECT_TRUE(refused.error().what.starts_with("Prompt length exceeds context window."));
  }
}

TEST(MarginB8, FollowsWhatWasSeen) {
  EXPECT_EQ(margin_for({.embedded = true}), 0);
  EXPECT_EQ(margin_for({}), 100);
  EXPECT_EQ(margin_for({.seen = true}), 50);
  EXPECT_EQ(margin_for({.seen = true, .worst = 12}), 200);
  EXPECT_EQ(margin_for({.seen = true, .worst = 317}), 317);
}

}  // namespace
}  // namespace plimsoll::budget
