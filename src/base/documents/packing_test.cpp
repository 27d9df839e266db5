#include "base/documents/packing.hpp"

#include <random>

#include <gtest/gtest.h>

namespace plimsoll::base {
namespace {

TEST(Packing, SentencesComeBackAndTakeFewBytes) {
  Chunk chunk;
  chunk.span = {1'000'000, 1'000'500};
  chunk.sentences = {{.span = {1'000'000, 1'000'080}, .tokens = 20, .opens_block = true},
                     {.span = {1'000'081, 1'000'500}, .tokens = 90, .opens_block = false}};
  const Bytes bytes = pack_sentences(chunk);
  EXPECT_LE(bytes.size(), 9U);
  const auto back = unpack_sentences(bytes, chunk.span);
  ASSERT_TRUE(back);
  ASSERT_EQ(back->size(), 2U);
  EXPECT_EQ((*back)[1].span, chunk.sentences[1].span);
  EXPECT_EQ((*back)[1].tokens, 90);
  EXPECT_TRUE((*back)[0].opens_block);
  EXPECT_EQ((*back)[1].pages_on, 0U);
}

TEST(Packing, SentencesKeepTheirPages) {
  Chunk chunk;
  chunk.span = {0, 100};
  for (const std::uint32_t pages_on : {0U, 0U, 1U, 1U, 70'000U}) {
    const std::uint64_t start = chunk.sentences.size() * 20;
    chunk.sentences.push_back({.span = {start, start + 19}, .tokens = 5, .pages_on = pages_on});
  }
  const auto back = unpack_sentences(pack_sentences(chunk), chunk.span);
  ASSERT_TRUE(back);
  ASSERT_EQ(back->size(), chunk.sentences.size());
  for (std::size_t i = 0; i < back->size(); ++i) {
    EXPECT_EQ((*back)[i].pages_on, chunk.sentences[i].pages_on);
    EXPECT_EQ((*back)[i].tokens, 5);
  }
}

TEST(Packing, WhatIsDamagedIsSaidAndNeverReadWrongly) {
  Chunk chunk;
  chunk.span = {10, 500};
  for (std::uint64_t i = 10; i < 480; i += 20)
    chunk.sentences.push_back({.span = {i, i + 19}, .tokens = 7, .opens_block = false});
  const Bytes good = pack_sentences(chunk);
  std::mt19937 random{3};
  int refused = 0;
  for (int round = 0; round < 5'000; ++round) {
    Bytes bad = good;
    if (round % 2 == 0) bad.resize(random() % bad.size());
    if (!bad.empty()) bad[random() % bad.size()] = static_cast<std::byte>(random());
    const auto back = unpack_sentences(bad, chunk.span);
    if (!back) {
      EXPECT_EQ(back.error().code, Errc::damaged);
      ++refused;
      continue;
    }
    std::uint64_t at = chunk.span.start;
    for (const Sentence& sentence : *back) {
      EXPECT_GE(sentence.span.start, at);
      EXPECT_LE(sentence.span.end, chunk.span.end);
      at = sentence.span.end;
    }
  }
  EXPECT_GT(refused, 2'000);
}

TEST(Packing, VectorsOfSeveralEmbeddersStandSideBySide) {
  const std::vector<EmbedderInfo> embedders{{.name = "a", .dimensions = 3, .max_tokens = 0},
                                            {.name = "b", .dimensions = 2, .max_tokens = 0}};
  ChunkVectors a{.whole = {1, 2, 3}, .scales = {0.5F, 0.25F}, .sentences = {1, 2, 3, 4, 5, 6}};
  ChunkVectors b{.whole = {7, 8}, .scales = {1, 2}, .sentences = {-1, -2, -3, -4}};
  const ChunkVectors* both[] = {&a, &b};
  const Bytes bytes = pack_vectors(both);
  ASSERT_EQ(bytes.size(), packed_vectors_size(embedders, 2));
  const auto second = unpack_vectors(bytes, embedders, 1, 2);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->whole, b.whole);
  EXPECT_EQ(second->scales, b.scales);
  EXPECT_EQ(second->sentences, b.sentences);
  EXPECT_EQ(second->sentence(1).values[0], -3);
  EXPECT_FALSE(unpack_vectors(bytes, embedders, 1, 3));
  EXPECT_FALSE(unpack_vectors(bytes, embedders, 2, 2));
}

TEST(Packing, VectorsInTwoPartsComeBackAndWrongSizesAreRefused) {
  const std::vector<EmbedderInfo> embedders{{.name = "a", .dimensions = 3, .max_tokens = 0},
                                            {.name = "b", .dimensions = 2, .max_tokens = 0}};
  const ChunkVectors a{.whole = {1, 2, 3}, .scales = {0.5F, 0.25F}, .sentences = {1, 2, 3, 4, 5, 6}};
  const ChunkVectors b{.whole = {7, 8}, .scales = {1, 2}, .sentences = {-1, -2, -3, -4}};
  const ChunkVectors* both[] = {&a, &b};
  const Bytes whole = pack_whole(both);
  const Bytes rest = pack_sentence_vectors(both);
  EXPECT_EQ(whole.size() + rest.size(), packed_vectors_size(embedders, 2));
  const auto wholes = unpack_whole(whole, embedders);
  ASSERT_TRUE(wholes);
  EXPECT_EQ(wholes->at(1), b.whole);
  const auto back = unpack_both(whole, rest, embedders, 2);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->at(0).whole, a.whole);
  EXPECT_EQ(back->at(0).sentences, a.sentences);
  EXPECT_EQ(back->at(1).scales, b.scales);
  EXPECT_EQ(back->at(1).sentences, b.sentences);
  EXPECT_FALSE(unpack_both(whole, rest, embedders, 3));
  EXPECT_FALSE(unpack_both(rest, whole, embedders, 2));
  EXPECT_FALSE(unpack_whole(rest, embedders));
}

}  // namespace
}  // namespace plimsoll::base
