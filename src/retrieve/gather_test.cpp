#include "retrieve/gather.hpp"

#include <gtest/gtest.h>

#include "base/testing_store.hpp"

namespace plimsoll::retrieve {
namespace {

// One document of one sentence, whose vector has two numbers.
struct OneSentence : base::MemoryStore {
  OneSentence() {
    IndexSettings settings;
    settings.embedders = {{"small", 2, 0}};
    info = *create_index("local", "books", settings);
    DocumentWithVectors one;
    one.document.key = "anchor.md";
    one.document.text = "The anchor weighs a ton.";
    Chunk chunk;
    chunk.span = {0, one.document.text.size()};
    chunk.sentences.push_back({.span = chunk.span, .tokens = 6, .opens_block = true});
    one.document.chunks.push_back(chunk);
    one.vectors = {{ChunkVectors{}}};
    EXPECT_TRUE(put(info.id, std::span(&one, 1)));
  }
  Result<std::vector<StoredChunk>> chunks(IndexId of, std::span<const ChunkId> ids) override {
    auto read = MemoryStore::chunks(of, ids);
    for (StoredChunk& chunk : *read)
      chunk.vectors = {{.whole = {}, .scales = {0.01F}, .sentences = {60, 80}}};
    return read;
  }
  Result<std::vector<DocumentHead>> heads(std::span<const DocumentId> ids) override {
    auto read = MemoryStore::heads(ids);
    for (DocumentHead& head : *read) {
      head.first_chunk = 1;
      head.chunks = 1;
    }
    return read;
  }
};

// Finds that sentence for every question.
struct FindsIt final : Index {
  std::size_t size() const override { return 1; }
  Revision revision() const override { return 1; }
  Result<std::vector<Hit>> lexical(std::string_view, std::size_t,
                                   const std::vector<DocumentId>*) const override {
    return std::vector<Hit>{{1, 1, 1}};
  }
  Result<std::vector<Hit>> nearest(std::size_t, std::span<const float>, std::size_t,
                                   const std::vector<DocumentId>*) const override {
    return std::vector<Hit>{{1, 1, 1}};
  }
  Result<std::vector<QueryTerm>> terms(std::string_view) const override {
    return std::vector<QueryTerm>{{"anchor", 1.0F}};
  }
  float average_words() const override { return 3; }
  Result<std::vector<NamedChunks>> named(NameUse, std::span<const std::string> keys,
                                         std::size_t) const override {
    return std::vector<NamedChunks>(keys.size());
  }
  Result<std::vector<NameCount>> most_mentioned(std::size_t) const override {
    return std::vector<NameCount>{};
  }
  Result<bool> refresh() override { return false; }
};

Result<Evidence> found(const std::vector<std::vector<float>>& vectors_of_parts) {
  OneSentence store;
  ChunkCache cache(store);
  const FindsIt index;
  std::vector<QueryView> views;
  for (const std::vector<float>& vector : vectors_of_parts) views.push_back({"the anchor", {vector}, 0.1F});
  return gather(store, cache, store.info, index, "the anchor", std::span(std::as_const(views)), {});
}

TEST(Gather, ComparesMeaningIfEveryPartOfAQuestionHasAVector) {
  const auto both = found({{0.6F, 0.8F}, {0.8F, 0.6F}});
  ASSERT_TRUE(both) << both.error().what;
  EXPECT_TRUE(both->by_meaning);
  ASSERT_EQ(both->stretches.size(), 1U);
  EXPECT_NEAR(both->stretches[0].sentences[0].meaning, 1, 0.01);
  for (const auto& vectors :
       std::vector<std::vector<std::vector<float>>>{{{}, {0.6F, 0.8F}}, {{0.6F, 0.8F}, {}}}) {
    const auto one = found(vectors);
    ASSERT_TRUE(one) << one.error().what;
    EXPECT_FALSE(one->by_meaning);
    ASSERT_EQ(one->stretches.size(), 1U);
    EXPECT_EQ(one->stretches[0].sentences[0].meaning, 0);
    EXPECT_TRUE(one->notes.empty());  // who asked for the vector knows why there is none
  }
}

TEST(Gather, SaysThatAVectorOfAnotherSizeIsNotCompared) {
  const auto evidence = found({{1, 2, 3}});
  ASSERT_TRUE(evidence) << evidence.error().what;
  EXPECT_FALSE(evidence->by_meaning);
  ASSERT_EQ(evidence->notes.size(), 1U);
  EXPECT_EQ(evidence->notes[0],
            "searched by words alone: 'small' gave 3 numbers for the question, and the index has 2");
}

}  // namespace
}  // namespace plimsoll::retrieve
