#include "retrieve/chunk_cache.hpp"

#include <functional>

#include <gtest/gtest.h>

#include "base/testing_store.hpp"

namespace plimsoll::retrieve {
namespace {

constexpr IndexId manual = 7;

// Documents of one chunk with one sentence each; the ids of documents and chunks count from 1.
class Cached : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 10; ++i) put("d" + std::to_string(i), "The anchors of ship " + std::to_string(i));
  }
  void put(const std::string& key, const std::string& text) {
    DocumentWithVectors one;
    one.document.key = key;
    one.document.text = text;
    Chunk chunk;
    chunk.span = {0, text.size()};
    chunk.sentences.push_back({.span = chunk.span, .tokens = 5, .opens_block = true});
    one.document.chunks.push_back(chunk);
    ASSERT_TRUE(store_.put(manual, std::span(&one, 1)));
  }
  static std::vector<ChunkId> ids(const ChunkCache::Chunks& chunks) {
    std::vector<ChunkId> out;
    for (const auto& chunk : chunks) out.push_back(chunk->stored.id);
    return out;
  }

  base::MemoryStore store_;
};

TEST_F(Cached, ReadsAChunkOnceAndGivesThemInOrder) {
  ChunkCache cache(store_);
  const std::vector<ChunkId> some{2, 5, 8}, more{1, 2, 5, 6, 8, 9}, docs{3, 4};
  EXPECT_EQ(ids(*cache.chunks(manual, some)), some);
  EXPECT_EQ(ids(*cache.chunks(manual, more)), more);
  EXPECT_EQ(store_.chunks_read, 6U);
  EXPECT_EQ(cache.heads(manual, docs)->size(), 2U);
  EXPECT_EQ(cache.heads(manual, docs)->at(1)->id, 4);
  EXPECT_EQ(store_.heads_read, 2U);
}

// Does something else when chunks were read, before the reader has them.
struct InterruptedStore : base::MemoryStore {
  Result<std::vector<StoredChunk>> chunks(IndexId of, std::span<const ChunkId> ids) override {
    auto read = MemoryStore::chunks(of, ids);
    if (after_read) after_read();
    return read;
  }
  std::function<void()> after_read;
};

TEST(ChunkCache, KeepsNothingThatWasReadBeforeItHadToForget) {
  InterruptedStore store;
  DocumentWithVectors one;
  one.document.key = "d";
  one.document.text = "The anchor";
  Chunk chunk;
  chunk.span = {0, 10};
  one.document.chunks.push_back(chunk);
  ASSERT_TRUE(store.put(manual, std::span(&one, 1)));
  ChunkCache cache(store);
  const std::vector<ChunkId> ids{1};
  store.after_read = [&] { cache.forget(manual); };
  EXPECT_EQ(cache.chunks(manual, ids)->size(), 1U);
  EXPECT_EQ(cache.bytes(), 0U);
  store.after_read = {};
  EXPECT_EQ(cache.chunks(manual, ids)->size(), 1U);
  EXPECT_GT(cache.bytes(), 0U);
}

TEST_F(Cached, ReadsWhereADocumentCameFromOnce) {
  ChunkCache cache(store_);
  for (int i = 0; i < 3; ++i) {
    const auto origins = cache.origins(manual, 4);
    ASSERT_TRUE(origins);
    EXPECT_EQ(source_span(**origins, {2, 11}), (Span{6, 15}));
  }
  EXPECT_EQ(store_.origins_read, 1U);
  EXPECT_EQ(source_span(**cache.origins(manual, 9), {2, 11}), (Span{11, 20}));
  cache.forget(manual);
  EXPECT_TRUE(cache.origins(manual, 4));
  EXPECT_EQ(store_.origins_read, 3U);
}

TEST_F(Cached, KnowsTheWordsOfEachSentenceByTheirStems) {
  ChunkCache cache(store_);
  const std::vector<ChunkId> first{1};
  const auto chunks = cache.chunks(manual, first);
  ASSERT_TRUE(chunks);
  const auto words = chunks->at(0)->words.of(0);  // "the" and "of" are stop words
  ASSERT_EQ(words.size(), 3U);
  EXPECT_EQ(words[0], stem_hash("anchor"));
  EXPECT_EQ(words[1], stem_hash("ship"));
}

TEST_F(Cached, LeavesOutWhatIsGoneAndNeverMistakesADocumentForAChunk) {
  ChunkCache cache(store_);
  const std::vector<ChunkId> some{1, 2, 99};
  const std::vector<std::string> gone{"d0"};
  ASSERT_TRUE(store_.remove(manual, gone));
  EXPECT_EQ(ids(*cache.chunks(manual, some)), std::vector<ChunkId>{2});
  const std::vector<DocumentId> docs{1, 2};
  ASSERT_EQ(cache.heads(manual, docs)->size(), 1U);
  EXPECT_EQ(cache.heads(manual, docs)->at(0)->id, 2);
}

TEST_F(Cached, KeepsNoMoreThanItMayAndDropsTheLongestUnused) {
  ChunkCache probe(store_);
  const std::vector<ChunkId> first{1};
  ASSERT_TRUE(probe.chunks(manual, first));
  const std::size_t one_chunk = probe.bytes();
  store_.chunks_read = 0;
  ChunkCache cache(store_, 3 * one_chunk);
  const auto read = [&](ChunkId id) { ASSERT_TRUE(cache.chunks(manual, std::span(&id, 1))); };
  for (const ChunkId id : {1, 2, 3, 1, 4}) read(id);
  EXPECT_LE(cache.bytes(), 3 * one_chunk);
  EXPECT_EQ(store_.chunks_read, 4U);
  read(1);
  EXPECT_EQ(store_.chunks_read, 4U);
  read(2);
  EXPECT_EQ(store_.chunks_read, 5U);
}

TEST_F(Cached, ForgetsAnIndexAndKeepsTheOthers) {
  ChunkCache cache(store_);
  const std::vector<ChunkId> some{1, 2};
  ASSERT_TRUE(cache.chunks(manual, some));
  ASSERT_TRUE(cache.chunks(manual + 1, some));
  const std::size_t both = cache.bytes();
  cache.forget(manual);
  EXPECT_EQ(2 * cache.bytes(), both);
  ASSERT_TRUE(cache.chunks(manual + 1, some));
  EXPECT_EQ(store_.chunks_read, 4U);
  ASSERT_TRUE(cache.chunks(manual, some));
  EXPECT_EQ(store_.chunks_read, 6U);
}

}  // namespace
}  // namespace plimsoll::retrieve
