#include "search/open.hpp"
#include "base/testing_store.hpp"

#include <cmath>
#include <fstream>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/log.hpp"
#include "search/lexical.hpp"

namespace plimsoll::search {
namespace {

constexpr std::uint32_t few_dimensions = 8;

std::vector<float> any_vector(std::mt19937& rng) {
  std::normal_distribution<float> normal;
  std::vector<float> vector(few_dimensions);
  for (float& value : vector) value = normal(rng);
  return vector;
}

std::string text_with_names(std::mt19937& rng, std::size_t words) {
  std::string text;
  for (std::size_t i = 0; i < words; ++i) {
    const double u = static_cast<double>(rng() % 10'000) / 10'000;
    const int word = static_cast<int>(u * u * u * 300);
    text += fmt::format("{}{} ", word % 5 == 0 ? "W" : "w", word);  // a name, or a word
  }
  return text;
}

DocumentWithVectors random_document(std::mt19937& rng, std::string key, std::size_t embedders) {
  DocumentWithVectors made;
  made.document.key = std::move(key);
  made.vectors.resize(embedders);
  for (std::size_t n = 1 + rng() % 4; n > 0; --n) {
    Chunk chunk;
    chunk.span.start = made.document.text.size();
    made.document.text += text_with_names(rng, 3 + rng() % 30);
    chunk.span.end = made.document.text.size();
    made.document.chunks.push_back(chunk);
    for (auto& by_chunk : made.vectors) {
      ChunkVectors vectors;
      for (const float value : any_vector(rng)) vectors.whole.push_back(to_bf16(value / 3));
      by_chunk.push_back(std::move(vectors));
    }
  }
  return made;
}

NamedChunks named(const Index& index, NameUse use, const std::string& key, std::size_t most) {
  return index.named(use, std::span(&key, 1), most).value().front();
}

std::string rounded(const std::vector<Hit>& hits) {
  std::string all;
  for (const Hit& hit : hits) all += fmt::format("{}/{}={:.7g} ", hit.chunk, hit.document, hit.score);
  return all;
}

class OpenIndex : public testing::Test {
 protected:
  void SetUp() override {
    log::start(log::Level::error, log::Format::text);
    IndexSettings settings;
    settings.embedders = {{"a", few_dimensions, 0}, {"b", few_dimensions, 0}};
    info_ = *store_.create_index("local", "books", settings);
    options_.folder = folder_;
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    log::start(log::Level::info, log::Format::text);
  }

  std::unique_ptr<SnapshotIndex> open() {
    auto index = open_index(store_, info_, options_);
    EXPECT_TRUE(index) << index.error().what;
    return index ? *std::move(index) : nullptr;
  }
  void put(const std::string& key) {
    const auto document = random_document(rng_, key, 2);
    ASSERT_TRUE(store_.put(info_.id, std::span(&document, 1)));
  }
  void put_many(int count) {
    for (int i = 0; i < count; ++i) put(fmt::format("d{}", i));
  }

  // Every answer equals that of an index built at once from the live chunks only.
  void expect_as_built_anew(const Index& index) {
    auto fresh = open_index(store_, info_, {});
    ASSERT_TRUE(fresh);
    EXPECT_EQ(index.size(), store_.living(info_.id)->size());
    EXPECT_EQ(index.revision(), store_.info.revision);
    EXPECT_FLOAT_EQ(index.average_words(), (*fresh)->average_words());
    const auto living = *store_.living(info_.id);
    for (int round = 0; round < 8; ++round) {
      const std::string query = text_with_names(rng_, 1 + rng_() % 5);
      std::vector<DocumentId> only;
      for (DocumentId id = 0; id < 400; ++id)
        if (rng_() % 3 == 0) only.push_back(id);
      const std::vector<DocumentId>* filter = round % 2 == 0 ? &only : nullptr;
      const auto hits = index.lexical(query, 10, filter).value();
      EXPECT_EQ(rounded(hits), rounded((*fresh)->lexical(query, 10, filter).value()));
      const auto vector = any_vector(rng_);
      const std::size_t embedder = rng_() % 2;
      const auto near = index.nearest(embedder, vector, 10, filter).value();
      EXPECT_EQ(rounded(near), rounded((*fresh)->nearest(embedder, vector, 10, filter).value()));
      for (const Hit& hit : hits) EXPECT_TRUE(std::binary_search(living.begin(), living.end(), hit.chunk));
      for (const Hit& hit : near) EXPECT_TRUE(std::binary_search(living.begin(), living.end(), hit.chunk));
      found_ += hits.size() + near.size();
    }
    const auto names = index.most_mentioned(1'000).value(),
               fresh_names = (*fresh)->most_mentioned(1'000).value();
    ASSERT_EQ(names.size(), fresh_names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      EXPECT_EQ(names[i].key, fresh_names[i].key);
      const NamedChunks mentions = named(index, NameUse::mention, names[i].key, 1'000);
      EXPECT_EQ(rounded(mentions.chunks),
                rounded(named(**fresh, NameUse::mention, names[i].key, 1'000).chunks));
      EXPECT_EQ(mentions.chunks.size(), names[i].chunks);
      EXPECT_EQ(mentions.total, names[i].chunks);
    }
    names_ += names.size();
  }

  std::mt19937 rng_{31};
  base::MemoryStore store_;
  IndexInfo info_;
  OpenOptions options_;
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / fmt::format("plimsoll_open_{}", ::getpid());
  std::size_t found_ = 0, names_ = 0;
};

TEST_F(OpenIndex, IsEmptyOverAnEmptyStore) {
  const auto index = open();
  EXPECT_EQ(index->size(), 0U);
  EXPECT_TRUE(index->lexical("w1", 10)->empty());
  EXPECT_TRUE(index->nearest(0, std::vector<float>(few_dimensions, 1.0F), 10)->empty());
  EXPECT_TRUE(index->nearest(9, std::vector<float>(few_dimensions, 1.0F), 10)->empty());
  EXPECT_FALSE(*index->refresh());
  EXPECT_TRUE(index->snapshot());
  expect_as_built_anew(*open());
}

TEST_F(OpenIndex, FindsNamesByTheirUse) {
  store_.heading = "Harbour > Pilots";
  DocumentWithVectors made = random_document(rng_, "d", 2);
  made.document.text = "Lucumi: Santería, or Lucumi, is a religion. Anna met Anna in Havana.";
  made.document.chunks.resize(1);
  made.document.chunks[0].span = {0, made.document.text.size()};
  for (auto& vectors : made.vectors) vectors.resize(1);
  ASSERT_TRUE(store_.put(info_.id, std::span(&made, 1)));
  const auto index = open();
  for (const char* title : {"harbour", "pilots", "lucumi"})
    EXPECT_EQ(named(*index, NameUse::title, title, 9).chunks.size(), 1U) << title;
  EXPECT_EQ(named(*index, NameUse::other, "santeria", 9).chunks.size(), 1U);
  const auto anna = named(*index, NameUse::mention, "anna", 9);
  ASSERT_EQ(anna.chunks.size(), 1U);
  EXPECT_EQ(anna.chunks[0].score, 2);
  EXPECT_EQ(named(*index, NameUse::mention, "anna", 0).total, 1U);
  EXPECT_EQ(named(*index, NameUse::mention, "ann", 9).total, 0U);
  EXPECT_EQ(named(*index, NameUse::title, "anna", 9).total, 0U);
  EXPECT_EQ(index->lexical("anna", 9)->size(), 1U);
  EXPECT_TRUE(index->lexical("\x01havana", 9)->size() == 1 &&
              index->average_words() < 15);  // names are not words
}

TEST_F(OpenIndex, FindsWordsOfHeadingAndLead) {
  store_.heading = "Harbour > Pilots";
  auto document = random_document(rng_, "d", 2);
  document.document.chunks[0].lead = "| ship | tonnage |";
  ASSERT_TRUE(store_.put(info_.id, std::span(&document, 1)));
  const auto index = open();
  EXPECT_EQ(index->lexical("pilot", 10)->size(), document.document.chunks.size());
  EXPECT_EQ(index->lexical("tonnage", 10)->size(), 1U);
}

TEST_F(OpenIndex, TakesInWhatChangesAndSaysWhetherSomethingDid) {
  const auto index = open();
  put("a");
  EXPECT_TRUE(*index->refresh());
  EXPECT_FALSE(*index->refresh());
  expect_as_built_anew(*index);
  const std::string key = "a";
  ASSERT_TRUE(store_.remove(info_.id, std::span(&key, 1)));
  EXPECT_TRUE(*index->refresh());
  EXPECT_EQ(index->size(), 0U);
}

TEST_F(OpenIndex, AgreesWithTheStoreAfterAnyChanges) {
  for (const bool graph : {false, true}) {
    options_.vectors = {
        .exact_up_to = graph ? 60U : 100'000U, .search_effort = 5000, .walk_comparisons = 0, .threads = 2};
    options_.snapshot_chunks = 40;
    auto index = open();
    std::size_t reopened = 0, snapshots = 0;
    for (int round = 0; round < 120; ++round) {
      for (std::size_t n = rng_() % 6; n > 0; --n) put(fmt::format("d{}", rng_() % 120));
      if (rng_() % 2 == 0) {
        std::vector<std::string> keys;
        for (std::size_t n = rng_() % 8; n > 0; --n) keys.push_back(fmt::format("d{}", rng_() % 120));
        ASSERT_TRUE(store_.remove(info_.id, keys));
      }
      if (rng_() % 10 == 0) {
        ASSERT_TRUE(index->snapshot());
        ++snapshots;
      }
      if (rng_() % 8 == 0) {
        index = open();
        ++reopened;
      }
      if (rng_() % 20 == 0) store_.removals_since = store_.info.revision;
      ASSERT_TRUE(index->refresh());
      if (round % 6 == 0) expect_as_built_anew(*index);
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(reopened, 5U);
    EXPECT_GT(snapshots, 5U);
    std::filesystem::remove_all(folder_);
  }
  EXPECT_GT(found_, 3000U);
}

TEST_F(OpenIndex, StandsAtTheRevisionOfItsSnapshotAndHasNothingToDo) {
  put_many(20);
  ASSERT_TRUE(open()->snapshot());
  const auto again = open();
  EXPECT_GT(store_.info.revision, 0);
  EXPECT_EQ(again->revision(), store_.info.revision);
  const auto changed = again->refresh();
  ASSERT_TRUE(changed) << changed.error().what;
  EXPECT_FALSE(*changed);
}

TEST_F(OpenIndex, IsBuiltAnewWhereASnapshotIsMissingDamagedOrOfAnother) {
  put_many(150);
  ASSERT_TRUE(open()->snapshot());
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    ++files;
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    for (int kind = 0; kind < 6; ++kind) {
      std::string wrong = bytes;
      if (kind == 0) wrong.clear();
      if (kind == 1) wrong.resize(wrong.size() / 2);
      if (kind == 2) wrong[wrong.size() / 2] ^= 1;
      if (kind == 3) wrong += "more";
      if (kind == 4) wrong.assign(wrong.size(), '\0');
      std::filesystem::remove(entry.path());
      if (kind < 5) std::ofstream(entry.path(), std::ios::binary) << wrong;
      expect_as_built_anew(*open());
    }
    std::ofstream(entry.path(), std::ios::binary) << bytes;
  }
  EXPECT_EQ(files, 3U);
  info_.id = store_.info.id = 8;
  expect_as_built_anew(*open());
}

// Each file may have an older revision: a process may end between writing two files.
TEST_F(OpenIndex, CatchesUpWhereFilesAreOfDifferentRevisions) {
  put_many(100);
  ASSERT_TRUE(open()->snapshot());
  const auto old = folder_.string() + ".old";
  for (const std::string name : {"words.index", "vectors-0.index", "vectors-1.index"}) {
    std::filesystem::remove_all(old);
    std::filesystem::copy(folder_, old);
    put_many(60);
    const std::string key = "d70";
    ASSERT_TRUE(store_.remove(info_.id, std::span(&key, 1)));
    ASSERT_TRUE(open()->snapshot());
    std::filesystem::copy_file(std::filesystem::path(old) / name, folder_ / name,
                               std::filesystem::copy_options::overwrite_existing);
    expect_as_built_anew(*open());
  }
  std::filesystem::remove_all(old);
}

TEST_F(OpenIndex, NoticesAStoreWithAnotherPast) {
  put_many(100);
  ASSERT_TRUE(open()->snapshot());
  base::MemoryStore other;
  IndexSettings settings = info_.settings;
  const IndexInfo info = *other.create_index("local", "books", settings);
  for (int i = 0; i < 100; ++i) {
    const auto document = random_document(rng_, "same", 2);
    ASSERT_TRUE(other.put(info.id, std::span(&document, 1)));
  }
  const auto extra = random_document(rng_, "extra", 2);
  ASSERT_TRUE(other.put(info.id, std::span(&extra, 1)));
  const auto index = open_index(other, info, options_);
  ASSERT_TRUE(index);
  EXPECT_EQ((*index)->size(), other.living(info.id)->size());
}

TEST_F(OpenIndex, GoesOnAfterAnErrorOfTheStore) {
  put_many(50);
  auto index = open();
  put_many(80);
  store_.fail_at = store_.living(info_.id)->back() - 20;
  EXPECT_EQ(index->refresh().error().code, Errc::io_failed);
  store_.fail_at = 0;
  put("d3");
  ASSERT_TRUE(*index->refresh());
  expect_as_built_anew(*index);
}

TEST_F(OpenIndex, WorksWithoutAFolderToWriteTo) {
  std::ofstream(folder_) << "a file where the folder should be";
  put_many(300);
  const auto index = open();
  expect_as_built_anew(*index);
  EXPECT_EQ(index->snapshot().error().code, Errc::io_failed);
  expect_as_built_anew(*index);
  std::filesystem::remove(folder_);
  options_.folder.clear();
  expect_as_built_anew(*open());
}

TEST_F(OpenIndex, MakesASnapshotByItselfAndRemovesLeftovers) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "words.index.999999999.0.tmp") << "half";
  std::ofstream(folder_ / fmt::format("words.index.{}.0.tmp", ::getpid())) << "being written";
  put_many(300);
  open();
  EXPECT_TRUE(std::filesystem::exists(folder_ / "words.index"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "words.index.999999999.0.tmp"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / fmt::format("words.index.{}.0.tmp", ::getpid())));
}

TEST_F(OpenIndex, CanBeSearchedWhileItChanges) {
  options_.vectors = {.exact_up_to = 50, .search_effort = 64, .walk_comparisons = 0, .threads = 2};
  options_.snapshot_chunks = 60;
  put_many(60);
  const auto index = open();
  std::atomic<bool> done{false};
  std::atomic<std::size_t> found{0};
  std::vector<std::jthread> readers;
  for (unsigned i = 0; i < 2; ++i)
    readers.emplace_back([&, i] {
      std::mt19937 rng{i};
      while (!done) {
        found += index->lexical(text_with_names(rng, 3), 10)->size();
        found += index->nearest(0, any_vector(rng), 10)->size();
        EXPECT_FALSE(index->terms("w1")->empty());
      }
    });
  for (int round = 0; round < 30; ++round) {
    put_many(20 + round % 40);
    ASSERT_TRUE(index->refresh());
  }
  while (found < 1000) std::this_thread::yield();
  done = true;
  readers.clear();
}

}  // namespace
}  // namespace plimsoll::search
