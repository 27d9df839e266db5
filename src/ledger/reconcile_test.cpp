#include "ledger/reconcile.hpp"

#include <gtest/gtest.h>

namespace plimsoll::ledger {
namespace {

Usage read(Tokens input, std::optional<Tokens> cached = std::nullopt) {
  return {.input = input, .answer = 5, .thinking = {}, .cached = cached};
}

TEST(Reconcile, SaysNothingWhereTheUpstreamDoesNot) {
  const Planned planned{.input = 1'000, .margin = 50};
  for (const Usage& usage : {Usage{}, read(0), read(-3), read(budget::most_tokens + 1)}) {
    EXPECT_FALSE(reconcile(planned, usage).drift);
    EXPECT_EQ(reconcile(planned, usage).cut, 0);
  }
}

TEST(Reconcile, TakesSmallDifferencesForDrift) {
  const Planned planned{.input = 1'000, .margin = 50};
  EXPECT_EQ(reconcile(planned, read(1'000)).drift, 0);
  EXPECT_EQ(reconcile(planned, read(1'040)).drift, 40);
  EXPECT_EQ(reconcile(planned, read(950)).drift, -50);
  EXPECT_EQ(reconcile(planned, read(950)).cut, 0);
  EXPECT_EQ(reconcile(planned, read(9'000)).cut, 0);  // more than planned is never a cut
}

TEST(Reconcile, CatchesACutPrompt) {
  // What Ollama 0.17 does with 1,573 tokens of turns and a num_ctx of 512: it drops whole turns and says 200.
  const Reconciled cut = reconcile({.input = 1'573, .margin = 100}, read(498));
  EXPECT_EQ(cut.drift, -1'075);
  EXPECT_EQ(cut.cut, 1'075);
  EXPECT_EQ(reconcile({.input = 1'000, .margin = 50}, read(949)).cut, 51);
  EXPECT_EQ(reconcile({.input = 1'000, .margin = 0}, read(984)).cut, 0);
  EXPECT_EQ(reconcile({.input = 1'000, .margin = 0}, read(983)).cut, 17);
}

TEST(Reconcile, LeavesRoomForWhatACalibratedCountMayBeWrongBy) {
  const Planned planned{.input = 10'000, .margin = 100, .exactness = Exactness::calibrated};
  EXPECT_EQ(reconcile(planned, read(9'500)).cut, 0);
  EXPECT_EQ(reconcile(planned, read(9'499)).cut, 501);
}

TEST(Reconcile, ProvesNothingByAnEstimate) {
  const Planned planned{.input = 10'000, .margin = 100, .exactness = Exactness::estimated};
  const Reconciled out = reconcile(planned, read(2'000));
  EXPECT_EQ(out.drift, -8'000);
  EXPECT_EQ(out.cut, 0);
}

TEST(Reconcile, AddsWhatWasCachedWhereItIsReportedBeside) {
  const Planned planned{.input = 10'000, .margin = 100};
  // Anthropic's format: 9,900 from the cache, 103 read.
  EXPECT_EQ(reconcile(planned, read(103, 9'900)).drift, 3);
  EXPECT_EQ(reconcile(planned, read(103, 9'900)).cut, 0);
  EXPECT_EQ(reconcile(planned, read(6'000, 4'000)).drift, 0);
  // OpenAI's format: cached tokens are part of the input.
  EXPECT_EQ(reconcile(planned, read(10'000, 9'900)).drift, 0);
  EXPECT_EQ(reconcile(planned, read(10'020, 10'020)).drift, 20);
}

TEST(Reconcile, CatchesACutBehindACache) {
  const Planned planned{.input = 10'000, .margin = 100};
  EXPECT_EQ(reconcile(planned, read(4'000, 2'000)).cut, 6'000);  // of the input
  EXPECT_EQ(reconcile(planned, read(500, 3'500)).cut, 6'000);    // in addition to it
}

}  // namespace
}  // namespace plimsoll::ledger
