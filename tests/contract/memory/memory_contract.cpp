#include "contract/memory/memory_contract.hpp"

#include <atomic>
#include <thread>

namespace plimsoll {
namespace {

const Deadline patience = Deadline::after(std::chrono::minutes(1));

RecallAsk ask_about(std::string query) {
  RecallAsk ask;
  ask.query = std::move(query);
  ask.owner = "ann";
  ask.limit = 10;
  return ask;
}

}  // namespace

TEST_P(MemoryContract, GivesFactsBestFirst) {
  const auto provider = GetParam().make({"Ann likes tea", "Ann drinks tea at noon", "Bob rows"});
  const auto facts = provider->recall(ask_about("tea"), patience);
  ASSERT_TRUE(facts) << facts.error().what;
  ASSERT_FALSE(facts->empty());
  EXPECT_EQ(facts->front().fact.text, "Ann likes tea");
  double before = 1;
  for (const RecalledFact& one : *facts) {
    EXPECT_FALSE(one.fact.text.empty());
    EXPECT_LE(one.score, before);
    EXPECT_GE(one.score, 0);
    EXPECT_GE(one.fact.trust, 0);
    EXPECT_LE(one.fact.trust, 1);
    EXPECT_GE(one.fact.importance, 0);
    EXPECT_LE(one.fact.importance, 1);
    before = one.score;
  }
}

TEST_P(MemoryContract, MayKnowNothing) {
  const auto facts = GetParam().make({})->recall(ask_about("tea"), patience);
  ASSERT_TRUE(facts) << facts.error().what;
  EXPECT_TRUE(facts->empty());
}

TEST_P(MemoryContract, SaysWhyItCannotBeAsked) {
  const auto facts = GetParam().broken()->recall(ask_about("tea"), patience);
  ASSERT_FALSE(facts);
  EXPECT_FALSE(facts.error().what.empty());
}

TEST_P(MemoryContract, MayBeAskedFromManyThreads) {
  const auto provider = GetParam().make({"Ann likes tea"});
  std::atomic<int> found = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const auto facts = provider->recall(ask_about("tea"), patience);
      if (facts && facts->size() == 1) ++found;
    });
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(found, 4);
}

}  // namespace plimsoll
