// Indexes on a real Weaviate: tools/weaviate.py starts one and sets PLIMSOLL_TEST_WEAVIATE to its URL.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "adapters/http/curl_client.hpp"
#include "adapters/weaviate/index.hpp"
#include "base/sha256.hpp"
#include "base/source_dir.hpp"
#include "contract/index/index_contract.hpp"
#include "search/open.hpp"

namespace plimsoll {
namespace {

const char* test_server() {
  return std::getenv("PLIMSOLL_TEST_WEAVIATE");
}

HttpClient& client() {
  static adapters::CurlClient client("plimsoll-test");
  return client;
}

// A store of its own for each folder.
weaviate::Options options_for(const std::filesystem::path& folder) {
  weaviate::Options options;
  options.address = weaviate::read_address(base::Secret(test_server())).value();
  options.store = folder.string();
  options.checkpoint_objects = 7;
  options.batch_objects = 3;
  return options;
}

std::vector<IndexMaker> makers() {
  if (test_server() == nullptr) return {};
  return {{"Weaviate", [](Store& store, const IndexInfo& info, const std::filesystem::path& folder) {
             return weaviate::open_index(client(), store, info, options_for(folder));
           }}};
}

class WeaviateIndexTest : public testing::Test {
 protected:
  void SetUp() override {
    if (test_server() == nullptr)
      GTEST_SKIP() << "PLIMSOLL_TEST_WEAVIATE is not the URL of a server; tools/weaviate.py starts one";
    IndexSettings settings;
    settings.embedders = {{.name = "two", .dimensions = 2, .max_tokens = 0}};
    ASSERT_TRUE(store_.create_index("local", "docs", settings));
    options_ = options_for(made_.path());
  }
  void TearDown() override {
    if (test_server() == nullptr) return;
    EXPECT_TRUE(weaviate::remove_index(client(), store_.info, options_));
  }

  void put(const std::string& key, const std::string& text, std::vector<std::uint16_t> vector = {0x3f80, 0}) {
    DocumentWithVectors one;
    one.document.key = key;
    one.document.text = text;
    Chunk chunk;
    chunk.span = {0, text.size()};
    one.document.chunks.push_back(chunk);
    one.vectors.resize(1);
    one.vectors[0].push_back({.whole = std::move(vector), .scales = {}, .sentences = {}});
    ASSERT_TRUE(store_.put(store_.info.id, std::span(&one, 1)));
  }
  // Puts the paragraphs of a text of this project in English, as the rarity of words differs with several
  // languages.
  std::vector<std::string> put_paragraphs() {
    std::ifstream file(base::source_dir() / "docs" / "scale.md");
    std::mt19937 rng{1};
    std::vector<std::string> out(1);
    for (std::string line; std::getline(file, line);) {
      out.back() += line + "\n";
      if (line.empty() && out.back().size() > 1) out.emplace_back();
    }
    for (std::size_t i = 0; i < out.size(); ++i)
      put(fmt::format("p{}", i), out[i],
          {static_cast<std::uint16_t>(0x3f00 + rng() % 128),
           static_cast<std::uint16_t>(0x3f00 + rng() % 128)});
    return out;
  }
  std::unique_ptr<Index> open() {
    auto index = weaviate::open_index(client(), store_, store_.info, options_);
    EXPECT_TRUE(index) << index.error().what;
    return index ? *std::move(index) : nullptr;
  }

  base::TemporaryFolder made_{"weaviate"};
  base::MemoryStore store_;
  weaviate::Options options_;
};

}  // namespace

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(IndexContract);
INSTANTIATE_TEST_SUITE_P(Weaviate, IndexContract, testing::ValuesIn(makers()),
                         [](const auto& made) { return made.param.name; });

TEST_F(WeaviateIndexTest, IsBuiltAnewIfItsCollectionIsLost) {
  put("one", "The anchor is up. ");
  const auto index = open();
  ASSERT_NE(index, nullptr);
  ASSERT_TRUE(weaviate::remove_index(client(), store_.info, options_));
  const auto hits = index->lexical("anchor", 10);
  ASSERT_FALSE(hits);  // never an empty answer
  EXPECT_EQ(hits.error().code, Errc::unreachable);
  EXPECT_NE(index->revision(), store_.info.revision);
  EXPECT_TRUE(index->refresh().value());
  EXPECT_EQ(index->lexical("anchor", 10)->size(), 1U);
}

TEST_F(WeaviateIndexTest, IsBuiltAnewIfTheStoreIsAnother) {
  for (int i = 0; i < 20; ++i) put(fmt::format("d{}", i), "The anchor is up. ");
  ASSERT_NE(open(), nullptr);
  const std::vector<std::string> gone{"d3"};
  ASSERT_TRUE(store_.remove(store_.info.id, gone));
  --store_.info.revision;  // another history with the same revision
  store_.removals_since = store_.info.revision;
  const auto index = open();
  ASSERT_NE(index, nullptr);
  EXPECT_EQ(index->size(), 19U);
  EXPECT_EQ(index->lexical("anchor", 100)->size(), 19U);
}

TEST_F(WeaviateIndexTest, IsSharedByTwoReaders) {
  put("one", "The anchor is up. ");
  const auto here = open(), there = open();
  put("two", "The anchor is down. ");
  EXPECT_TRUE(here->refresh().value());
  EXPECT_TRUE(there->refresh().value());
  for (const auto* index : {here.get(), there.get()}) {
    EXPECT_EQ(index->size(), 2U);
    EXPECT_EQ(index->lexical("anchor", 10)->size(), 2U);
  }
}

TEST_F(WeaviateIndexTest, GoesOnAfterAnImportThatFailed) {
  for (int i = 0; i < 30; ++i) put(fmt::format("d{}", i), fmt::format("The anchor number {} is up. ", i));
  store_.fail_at = 20;
  const auto failed = weaviate::open_index(client(), store_, store_.info, options_);
  ASSERT_FALSE(failed);
  const std::vector<std::string> gone{"d2", "d18"};
  ASSERT_TRUE(store_.remove(store_.info.id, gone));
  store_.fail_at = 0;
  const auto index = open();
  ASSERT_NE(index, nullptr);
  EXPECT_EQ(index->size(), 28U);
  EXPECT_EQ(index->lexical("anchor", 100)->size(), 28U);
}

TEST_F(WeaviateIndexTest, AgreesWithTheBuiltInIndex) {
  const std::vector<std::string> paragraphs = put_paragraphs();
  ASSERT_GT(paragraphs.size(), 20U);
  const auto there = open();
  ASSERT_NE(there, nullptr);
  const auto here = search::open_index(store_, store_.info, {}).value();
  EXPECT_EQ(there->size(), here->size());
  EXPECT_FLOAT_EQ(there->average_words(), here->average_words());
  std::size_t hits = 0, names = 0;
  for (const std::string& text : paragraphs) {
    const std::string query = text.substr(0, 120);
    const auto ours = here->terms(query).value(), theirs = there->terms(query).value();
    ASSERT_EQ(ours.size(), theirs.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
      EXPECT_EQ(ours[i].term, theirs[i].term);
      EXPECT_FLOAT_EQ(ours[i].idf, theirs[i].idf) << ours[i].term;
    }
    std::map<ChunkId, float> scores;
    const auto expected = here->lexical(query, 1'000).value();
    for (const Hit& hit : expected) scores[hit.chunk] = hit.score;
    const auto found = there->lexical(query, 1'000).value();
    EXPECT_EQ(found.size(), scores.size());
    for (const Hit& hit : found) EXPECT_NEAR(hit.score, scores[hit.chunk], 0.05F * hit.score + 0.02F);
    hits += found.size();
  }
  EXPECT_GT(hits, 100U);
  for (const float angle : {0.1F, 0.8F, 1.5F}) {
    const std::vector<float> query{std::cos(angle), std::sin(angle)};
    const auto ours = here->nearest(0, query, 20).value(), theirs = there->nearest(0, query, 20).value();
    ASSERT_EQ(ours.size(), theirs.size());
    for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i].score, theirs[i].score, 0.01);
  }
  std::vector<std::string> keys{"nobody"};
  const auto mentioned = here->most_mentioned(200).value();
  for (const NameCount& name : mentioned) keys.push_back(name.key);
  for (const NameUse use : {NameUse::mention, NameUse::title, NameUse::other})
    for (const std::size_t most : {0U, 3U, 20U}) {
      const auto ours = here->named(use, keys, most).value(), theirs = there->named(use, keys, most).value();
      for (std::size_t i = 0; i < keys.size(); ++i) {
        EXPECT_EQ(ours[i].total, theirs[i].total) << keys[i];
        EXPECT_EQ(ours[i].chunks.size(), theirs[i].chunks.size()) << keys[i];
        for (std::size_t c = 0; c < std::min(ours[i].chunks.size(), theirs[i].chunks.size()); ++c)
          EXPECT_EQ(ours[i].chunks[c].chunk, theirs[i].chunks[c].chunk);
        names += ours[i].total;
      }
    }
  EXPECT_GT(names, 100U);
}

TEST_F(WeaviateIndexTest, IsNotSeenByAnotherStore) {
  put("one", "The anchor is up. ");
  ASSERT_NE(open(), nullptr);
  base::MemoryStore other;
  ASSERT_TRUE(other.create_index("local", "docs", store_.info.settings));
  weaviate::Options options = options_;
  options.store += '2';
  const auto index = weaviate::open_index(client(), other, other.info, options);
  ASSERT_TRUE(index) << index.error().what;
  EXPECT_TRUE((*index)->lexical("anchor", 10)->empty());
  EXPECT_TRUE(weaviate::remove_index(client(), other.info, options));
}

}  // namespace plimsoll
