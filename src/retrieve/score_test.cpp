#include "retrieve/score.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "retrieve/chunk_cache.hpp"

namespace plimsoll::retrieve {
namespace {

// Sentences of ten tokens each, one chunk each, a blank apart.
struct Text {
  explicit Text(const std::vector<std::string>& sentences) {
    std::uint64_t at = 0;
    for (const std::string& each : sentences) {
      auto chunk = std::make_shared<ReadChunk>();
      chunk->stored.text = each;
      chunk->stored.chunk.span = {at, at + each.size()};
      chunk->stored.chunk.sentences = {
          {.span = chunk->stored.chunk.span, .tokens = 10, .opens_block = false}};
      chunk->words = words_of(each, at, chunk->stored.chunk.sentences);
      at += each.size() + 1;
      chunks.push_back(std::move(chunk));
    }
  }

  void add_vectors(const std::vector<std::vector<std::int8_t>>& by_sentence, float scale) {
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      auto chunk = std::make_shared<ReadChunk>(*chunks[i]);
      chunk->stored.vectors.push_back({.whole = {}, .scales = {scale}, .sentences = by_sentence[i]});
      chunks[i] = std::move(chunk);
    }
    embedders.push_back(embedders.size());
  }

  std::vector<ScoredSentence> score(QueryInput query, const Weights& weights = {}) const {
    query.embedders = embedders;
    const StretchInput input{chunks,
                             std::make_shared<const StretchNorms>(norms_of(chunks, embedders, weights))};
    return score_sentences(query, std::span(&input, 1), weights).at(0);
  }

  ChunkCache::Chunks chunks;
  std::vector<std::size_t> embedders;
};

QueryInput query_of(std::vector<std::string> words) {
  QueryInput out;
  for (std::string& word : words) out.terms.push_back({std::move(word), 3.0F});
  out.index_chunks = 100;
  out.average_words = 60;
  return out;
}

std::vector<float> scores(const QueryInput& query, const Text& text, const Weights& weights = {}) {
  std::vector<float> out;
  for (const ScoredSentence& sentence : text.score(query, weights)) out.push_back(sentence.score);
  return out;
}

TEST(Score, TheSentenceWithTheWordsIsBestAndItsNeighboursGain) {
  const Text text({"Fog all day.", "Nothing in sight.", "The anchor dragged on the keel.", "It was lost.",
                   "More fog.", "Rain at last."});
  const auto got = scores(query_of({"anchor", "keel"}), text);
  EXPECT_EQ(std::max_element(got.begin(), got.end()) - got.begin(), 2);
  EXPECT_GT(got[3], got[1]);  // text after it is more likely about it than text before
  EXPECT_GT(got[3], got[4]);
  EXPECT_GT(got[4], got[5]);
  for (const float score : got) {
    EXPECT_GE(score, 0.0F);
    EXPECT_LE(score, 1.0F);
  }
}

TEST(Score, OneOfEachWordBeatsManyOfOne) {
  const Text text({"anchor anchor anchor anchor anchor", "quiet", "quiet", "quiet", "quiet",
                   "anchor keel quiet quiet quiet"});
  Weights alone;
  alone.words_reach = 1;
  const auto got = scores(query_of({"anchor", "keel"}), text, alone);
  EXPECT_GT(got[5], got[0]);
}

TEST(Score, SaysWhichWordsASentenceHas) {
  const Text text({"Keels and anchors.", "The anchors.", "Nothing."});
  const auto got = text.score(query_of({"anchor", "keel"}));
  EXPECT_EQ(got[0].words, 3U);
  EXPECT_EQ(got[1].words, 1U);
  EXPECT_EQ(got[2].words, 0U);
}

TEST(Score, WordsThatNameNoSubjectShowNoRelevance) {
  const Text text({"Give an example.", "Fog all day.", "Prune the tree."});
  Weights alone;
  alone.words_reach = 1;
  QueryInput query = query_of({"give", "exampl", "prune"});
  EXPECT_GT(text.score(query, alone)[0].relevance, 0.6F);
  query.subjects = 4;
  const auto got = text.score(query, alone);
  EXPECT_LT(got[0].relevance, 0.01F);
  EXPECT_NEAR(got[2].relevance, 1, 0.01F);
  EXPECT_GT(got[0].score, got[1].score);  // they still tell sentences apart
}

TEST(Score, OwnWordsOfADependentQuestionShowLess) {
  const Text text({"The rope may fail.", "Fog all day."});
  QueryInput query = query_of({"fail", "pump", "seal", "shaft", "bear", "motor"});
  for (std::size_t i = 1; i < query.terms.size(); ++i) query.terms[i].weight = 0.6F;
  EXPECT_NEAR(text.score(query)[0].relevance, 1, 0.01F);
  query.dependence = 0.6F;
  EXPECT_NEAR(text.score(query)[0].relevance, 0.4F, 0.01F);
}

TEST(Score, MeaningCountsWhereTheWordsDiffer) {
  Text text({"First.", "Second.", "Third.", "Fourth."});
  const std::vector<std::int8_t> away{0, 127}, near{127, 0};
  text.add_vectors({away, away, near, away}, 1.0F / 127);
  QueryInput query = query_of({"absent"});
  const std::vector<float> vector{1, 0};
  query.vectors = {vector};
  const auto got = text.score(query);
  EXPECT_NEAR(got[2].meaning, 1.0F, 1e-3);
  EXPECT_NEAR(got[0].meaning, 0.0F, 1e-3);
  EXPECT_GT(got[2].score, got[1].score);
  EXPECT_GT(got[1].score, got[0].score);
}

TEST(Score, TwoEmbeddersAreAveraged) {
  Text text({"First.", "Second."});
  const std::vector<std::int8_t> x{127, 0}, y{0, 127};
  text.add_vectors({x, y}, 1.0F / 127);
  text.add_vectors({y, y}, 1.0F / 127);
  QueryInput query = query_of({});
  const std::vector<float> vector{1, 0};
  query.vectors = {vector, vector};
  const auto got = text.score(query);
  EXPECT_NEAR(got[0].meaning, 0.5F, 1e-3);
  EXPECT_NEAR(got[1].meaning, 0.0F, 1e-3);
}

// Compares the scores from products and norms with those of the summed vectors.
// An embedder that puts all texts close together must not make everything relevant.
TEST(Score, RelevanceUsesTheScaleOfTheEmbedder) {
  Text text({"First.", "Second."});
  const std::vector<std::int8_t> unrelated{95, 84}, near{114, 56};  // cosines .75 and .90
  text.add_vectors({unrelated, near}, 1.0F / 127);
  QueryInput query = query_of({"absent"});
  const std::vector<float> vector{1, 0};
  query.vectors = {vector};
  Weights alone;
  alone.near_reach = 0.001F;
  const auto raw = text.score(query, alone);
  query.scales = {{.factor = 4, .shift = -3}};
  const auto scaled = text.score(query, alone);
  EXPECT_NEAR(raw[0].relevance, 0.375F, 0.01F);
  EXPECT_NEAR(scaled[0].relevance, 0.0F, 0.01F);
  EXPECT_NEAR(scaled[1].relevance, 0.3F, 0.02F);
  EXPECT_NEAR(scaled[1].meaning, raw[1].meaning, 1e-6F);  // the cosine itself is shown
  EXPECT_NEAR(scaled[1].score, raw[1].score, 1e-5F);      // the order does not depend on the scale
}

TEST(Score, TheMeaningOfSurroundingsIsTheCosineOfTheirSum) {
  Text text({"First.", "Second.", "Third.", "Fourth.", "Fifth."});
  std::minstd_rand random(1876);
  std::uniform_int_distribution<int> byte(-127, 127);
  constexpr std::size_t dimensions = 37;
  std::vector<std::vector<std::int8_t>> rows(5, std::vector<std::int8_t>(dimensions));
  std::vector<float> vector(dimensions);
  for (auto& row : rows)
    for (std::int8_t& value : row) value = static_cast<std::int8_t>(byte(random));
  for (float& value : vector) value = static_cast<float>(byte(random)) / 127;
  text.add_vectors(rows, 0.25F);
  QueryInput query = query_of({});
  query.vectors = {vector};
  Weights only;
  only.own_meaning = only.far_meaning = only.chunk_meaning = only.neighbour = 0;
  only.nearby_words = only.own_words = only.chunk_words = 0;
  const auto got = scores(query, text, only);

  std::vector<double> cosine;
  for (int i = 0; i < 5; ++i) {
    std::vector<double> sum(dimensions);
    double product = 0, length = 0;
    for (std::size_t d = 0; d < dimensions; ++d) {
      for (int j = 0; j < 5; ++j)
        sum[d] += std::exp(-10.0 * std::abs(i - j) / only.near_reach) * rows[static_cast<std::size_t>(j)][d];
      product += sum[d] * vector[d];
      length += sum[d] * sum[d];
    }
    cosine.push_back(product / std::sqrt(length));
  }
  const auto [least, most] = std::minmax_element(cosine.begin(), cosine.end());
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(got[i], (cosine[i] - *least) / (*most - *least), 1e-4);
}

TEST(Score, NothingToCompareGivesNoScoreAndNoNan) {
  const Text text({"First.", "Second."});
  for (const float score : scores(query_of({}), text)) EXPECT_EQ(score, 0.0F);
  EXPECT_TRUE(score_sentences(query_of({"a"}), {}, {}).empty());
  const Text empty({});
  EXPECT_TRUE(empty.score(query_of({"a"})).empty());
}

TEST(Score, WhatStandsInAnotherStretchIsNotNearby) {
  const Text before({"fog", "keel"}), after({"fog", "fog"});
  Weights only;
  only.own_words = only.chunk_words = only.neighbour = 0;
  const StretchInput inputs[] = {{before.chunks, nullptr}, {after.chunks, nullptr}};
  const auto got = score_sentences(query_of({"keel"}), inputs, only);
  EXPECT_GT(got[0][0].score, 0.0F);
  EXPECT_EQ(got[1][0].score, 0.0F);
  EXPECT_EQ(got[1][1].score, 0.0F);
}

// Compares the passes along the text with the direct sum.
TEST(Score, SmoothingEqualsTheSumOverAllPairs) {
  const Text text({"keel keel", "fog", "anchor", "keel anchor", "fog", "keel"});
  Weights only;
  only.own_words = only.chunk_words = only.neighbour = 0;
  const auto got = scores(query_of({"keel"}), text, only);
  const int counts[] = {2, 0, 0, 1, 0, 1};
  std::vector<double> expected;
  for (int i = 0; i < 6; ++i) {
    double sum = 0;
    for (int j = 0; j < 6; ++j)
      sum +=
          counts[j] * std::exp(-10.0 * std::abs(i - j) / only.words_reach) * (j > i ? only.word_after : 1.0);
    expected.push_back(sum * 1.8 / (sum + 0.8));
  }
  const double most = *std::max_element(expected.begin(), expected.end());
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(got[i], expected[i] / most, 1e-4);
}

}  // namespace
}  // namespace plimsoll::retrieve
