#include "ledger/drift.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace plimsoll::ledger {
namespace {

const DriftKey llama{.upstream = "ollama", .model = "llama3.2:3b", .format = "llama3"};
const DriftKey qwen{.upstream = "ollama", .model = "qwen3:8b", .format = "chatml"};

TEST(DriftBook, KnowsNothingAtFirst) {
  const DriftBook book;
  EXPECT_FALSE(book.of(llama).seen);
  EXPECT_EQ(budget::margin_for(book.of(llama)), 100);
}

TEST(DriftBook, LearnsByUpstreamModelAndFormat) {
  DriftBook book;
  book.learn(llama, 0);
  EXPECT_TRUE(book.of(llama).seen);
  EXPECT_EQ(budget::margin_for(book.of(llama)), 50);
  EXPECT_FALSE(book.of(qwen).seen);
  for (const DriftKey& other : {DriftKey{"b", llama.model, llama.format}, DriftKey{"ollama", "b", "llama3"},
                                DriftKey{"ollama", llama.model, "b"}})
    EXPECT_FALSE(book.of(other).seen);
  book.learn(llama, 340);
  book.learn(llama, 12);
  EXPECT_EQ(book.of(llama).worst, 340);
  EXPECT_EQ(budget::margin_for(book.of(llama)), 340);
}

TEST(DriftBook, TakesAPlanThatCountedTooManyForDriftButNotForDanger) {
  DriftBook book;
  book.learn(llama, -4'000);
  EXPECT_EQ(budget::margin_for(book.of(llama)), 200);
}

TEST(DriftBook, ForgetsTheWorstAfterThirtyTwoBetter) {
  DriftBook book;
  book.learn(llama, 900);
  for (std::size_t i = 1; i < DriftBook::recent_kept; ++i) book.learn(llama, 0);
  EXPECT_EQ(book.of(llama).worst, 900);
  book.learn(llama, 0);
  EXPECT_EQ(book.of(llama).worst, 0);
}

TEST(DriftBook, GivesWhatChangedOnceAndTakesItBack) {
  DriftBook book;
  for (Tokens i = 0; i < 40; ++i) book.learn(llama, i);
  book.learn(qwen, 7);
  const auto changed = book.take_changed();
  ASSERT_EQ(changed.size(), 2U);
  EXPECT_EQ(changed[0].key, llama);
  EXPECT_EQ(changed[0].seen, 40);
  ASSERT_EQ(changed[0].recent.size(), 32U);
  EXPECT_EQ(changed[0].recent.front(), 8);
  EXPECT_EQ(changed[0].recent.back(), 39);
  EXPECT_TRUE(book.take_changed().empty());

  DriftBook restarted;
  restarted.load(changed);
  EXPECT_EQ(restarted.of(llama).worst, 39);
  EXPECT_EQ(restarted.of(qwen).worst, 7);
  EXPECT_TRUE(restarted.take_changed().empty());
  restarted.learn(qwen, 1);
  const auto again = restarted.take_changed();
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].seen, 2);
}

TEST(DriftBook, HoldsNoMoreKeysThanItMay) {
  DriftBook book;
  for (std::size_t i = 0; i <= DriftBook::most_keys; ++i)
    book.learn({.upstream = "u", .model = std::to_string(i), .format = ""}, 1);
  EXPECT_FALSE(book.of({.upstream = "u", .model = "0", .format = ""}).seen);
  EXPECT_TRUE(book.of({.upstream = "u", .model = "1", .format = ""}).seen);
  EXPECT_EQ(book.take_changed().size(), DriftBook::most_keys);
}

TEST(DriftBook, CountsEveryLearningOfManyThreads) {
  DriftBook book;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (Tokens i = 0; i < 1'000; ++i) {
        book.learn(llama, i % 50);
        EXPECT_TRUE(book.of(llama).seen);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(book.take_changed().at(0).seen, 4'000);
}

}  // namespace
}  // namespace plimsoll::ledger
