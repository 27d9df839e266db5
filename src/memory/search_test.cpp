#include "memory/search.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace plimsoll::memory {
namespace {

HeldFact held(std::string text, std::vector<float> values = {}, double importance = 0.7,
              std::int64_t updated = 0) {
  HeldFact one;
  one.fact.text = std::move(text);
  one.fact.importance = importance;
  one.fact.updated_ms = updated;
  one.vector = {values.empty() ? "" : "e", std::move(values)};
  return one;
}

using Places = std::vector<std::size_t>;

TEST(SearchFacts, RareWordsCountMoreAndEndingsNothing) {
  const std::vector<HeldFact> facts{held("Ann likes tea in the morning"), held("Ann's ships carry coal"),
                                    held("The office is in Hamburg"), held("Ann likes coffee")};
  EXPECT_EQ(rank_by_words("Which ship does Ann own?", facts).front(), 1U);
  EXPECT_EQ(rank_by_words("hamburg", facts), Places{2});
  EXPECT_EQ(rank_by_words("nothing of it", facts), Places());
  EXPECT_EQ(rank_by_words("", facts), Places());
  EXPECT_EQ(rank_by_words("the", facts).front(), 2U);  // only a stop word: then it counts
}

TEST(SearchFacts, NearVectorsOfTheSameEmbedderAlone) {
  const float half = std::sqrt(0.5F);
  std::vector<HeldFact> facts{held("a", {1, 0}), held("b", {half, half}), held("c", {0, 1}), held("d"),
                              held("e", {1, 0})};
  facts[4].vector.embedder = "another";
  EXPECT_EQ(rank_by_meaning({"e", {1, 0}}, facts), (Places{0, 1}));
  EXPECT_EQ(rank_by_meaning({}, facts), Places());
}

TEST(SearchFacts, BothRankingsTogetherBeatOneAndTheRestComesBehind) {
  const std::vector<HeldFact> facts{held("a"), held("b"), held("c", {}, 0.9), held("d", {}, 0.5, 2),
                                    held("e", {}, 0.5, 9)};
  const Places words{0, 1}, meaning{1};
  const auto related = fuse(words, meaning, facts, false);
  ASSERT_EQ(related.size(), 2U);
  EXPECT_EQ(related[0].fact, 1U);
  EXPECT_TRUE(related[0].by_words && related[0].by_meaning);
  EXPECT_LE(related[0].score, 1.0);
  const auto all = fuse(words, meaning, facts, true);
  Places order;
  for (const SearchedFact& one : all) order.push_back(one.fact);
  EXPECT_EQ(order, (Places{1, 0, 2, 4, 3}));
  EXPECT_FALSE(all[2].by_words || all[2].by_meaning);
}

TEST(SearchFacts, AWholeDocumentAsQueryIsReadByItsFirstWords) {
  std::string query = "harbour";
  for (int i = 0; i < 100'000; ++i) query += " w" + std::to_string(i);
  std::vector<HeldFact> facts(2);
  facts[0].fact.text = "The harbour is full.";
  facts[1].fact.text = "w99999";  // far behind
  EXPECT_EQ(rank_by_words(query, facts), std::vector<std::size_t>{0});
}

}  // namespace
}  // namespace plimsoll::memory
