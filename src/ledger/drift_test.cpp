#include "ledger/drift.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace plimsoll::ledger {
namespace {

constexpr std::int64_t now = 1'800'000'000'000;
const DriftKey llama{.upstream = "ollama", .model = "llama3.2:3b", .format = "llama3", .owner = "ann"};
const DriftKey qwen{.upstream = "ollama", .model = "qwen3:8b", .format = "chatml", .owner = "ann"};

TEST(DriftBook, KnowsNothingAtFirst) {
  const DriftBook book;
  EXPECT_FALSE(book.of(llama, now).seen);
  EXPECT_EQ(budget::margin_for(book.of(llama, now)), 100);
}

TEST(DriftBook, LearnsByUpstreamModelAndFormat) {
  DriftBook book;
  book.learn(llama, 0, now);
  EXPECT_TRUE(book.of(llama, now).seen);
  EXPECT_EQ(budget::margin_for(book.of(llama, now)), 50);
  EXPECT_FALSE(book.of(qwen, now).seen);
  for (const DriftKey& other :
       {DriftKey{"b", llama.model, llama.format, "ann"}, DriftKey{"ollama", "b", "llama3", "ann"},
        DriftKey{"ollama", llama.model, "b", "ann"}, DriftKey{"ollama", llama.model, "llama3", "bob"}})
    EXPECT_FALSE(book.of(other, now).seen);
  book.learn(llama, 340, now);
  book.learn(llama, 12, now);
  EXPECT_EQ(book.of(llama, now).worst, 340);
  EXPECT_EQ(budget::margin_for(book.of(llama, now)), 340);
}

TEST(DriftBook, TakesAPlanThatCountedTooManyForDriftButNotForDanger) {
  DriftBook book;
  book.learn(llama, -4'000, now);
  EXPECT_EQ(budget::margin_for(book.of(llama, now)), 200);
}

TEST(DriftBook, ForgetsTheWorstAfterThirtyTwoBetter) {
  DriftBook book;
  book.learn(llama, 900, now);
  for (std::size_t i = 1; i < DriftBook::recent_kept; ++i) book.learn(llama, 0, now);
  EXPECT_EQ(book.of(llama, now).worst, 900);
  book.learn(llama, 0, now);
  EXPECT_EQ(book.of(llama, now).worst, 0);
}

DriftKey llama_of(const std::string& owner) {
  DriftKey key = llama;
  key.owner = owner;
  return key;
}

TEST(DriftBook, CountsForEverybodyAsFarAsTwoOwnersHaveSeenIt) {
  DriftBook book;
  book.learn(llama_of("ann"), 8'000, now);
  EXPECT_EQ(book.of(llama_of("ann"), now).worst, 8'000);
  EXPECT_FALSE(book.of(llama_of("cy"), now).seen);
  book.learn(llama_of("bob"), 300, now);
  EXPECT_EQ(book.of(llama_of("cy"), now).worst, 300);
  EXPECT_EQ(book.of(llama_of("bob"), now).worst, 300);
  EXPECT_EQ(book.of(llama_of("ann"), now).worst, 8'000);
}

TEST(DriftBook, BelievesForAnHour) {
  DriftBook book;
  for (const char* owner : {"ann", "bob"}) book.learn(llama_of(owner), 300, now);
  EXPECT_EQ(book.of(llama_of("cy"), now + DriftBook::believed_ms - 1).worst, 300);
  for (const char* owner : {"ann", "cy"}) {
    EXPECT_FALSE(book.of(llama_of(owner), now + DriftBook::believed_ms).seen);
    EXPECT_FALSE(book.of(llama_of(owner), now - DriftBook::believed_ms).seen);  // the clock was set back
  }
}

TEST(DriftBook, RelaxesForOneOwnerAndForgetsForAll) {
  DriftBook book;
  for (const char* owner : {"ann", "bob"}) book.learn(llama_of(owner), 300, now);
  book.relax(llama_of("ann"), now);
  EXPECT_FALSE(book.of(llama_of("ann"), now).seen);
  EXPECT_EQ(book.of(llama_of("bob"), now).worst, 300);
  book.learn(qwen, 7, now);
  book.forget(llama.model);
  EXPECT_FALSE(book.of(llama_of("bob"), now).seen);
  EXPECT_TRUE(book.of(qwen, now).seen);
  book.forget("");
  EXPECT_FALSE(book.of(qwen, now).seen);
}

TEST(DriftBook, GivesWhatChangedOnceAndTakesItBack) {
  DriftBook book;
  for (Tokens i = 0; i < 40; ++i) book.learn(llama, i, now);
  book.learn(qwen, 7, now);
  const auto changed = book.take_changed();
  ASSERT_EQ(changed.size(), 2U);
  EXPECT_EQ(changed[0].key, llama);
  EXPECT_EQ(changed[0].seen, 40);
  ASSERT_EQ(changed[0].recent.size(), 32U);
  EXPECT_EQ(changed[0].recent.front().difference, 8);
  EXPECT_EQ(changed[0].recent.back().difference, 39);
  EXPECT_TRUE(book.take_changed().empty());

  DriftBook restarted;
  restarted.load(changed, now);
  EXPECT_EQ(restarted.of(llama, now).worst, 39);
  EXPECT_EQ(restarted.of(qwen, now).worst, 7);
  EXPECT_TRUE(restarted.take_changed().empty());
  restarted.learn(qwen, 1, now);
  const auto again = restarted.take_changed();
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].seen, 2);
}

TEST(DriftBook, HoldsNoMoreKeysThanItMay) {
  DriftBook book;
  for (std::size_t i = 0; i <= DriftBook::most_keys; ++i)
    book.learn({.upstream = "u", .model = std::to_string(i), .format = "", .owner = ""}, 1, now);
  EXPECT_FALSE(book.of({.upstream = "u", .model = "0", .format = "", .owner = ""}, now).seen);
  EXPECT_TRUE(book.of({.upstream = "u", .model = "1", .format = "", .owner = ""}, now).seen);
  EXPECT_EQ(book.take_changed().size(), DriftBook::most_keys);
}

TEST(DriftBook, CountsEveryLearningOfManyThreads) {
  DriftBook book;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (Tokens i = 0; i < 1'000; ++i) {
        book.learn(llama, i % 50, now);
        EXPECT_TRUE(book.of(llama, now).seen);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(book.take_changed().at(0).seen, 4'000);
}

}  // namespace
}  // namespace plimsoll::ledger
