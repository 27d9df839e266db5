#include "search/vectors.hpp"

#include <cmath>
#include <cstring>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/mapped_file.hpp"
#include "base/temporary_folder.hpp"
#include "search/testing_hits.hpp"
#include "search/vectors_file.hpp"

namespace plimsoll::search {
namespace {

constexpr std::uint32_t dimensions = 24;

// Clustered around centres, like texts around topics.
std::vector<float> random_vector(std::mt19937& rng) {
  std::normal_distribution<float> normal, normal_of_centre;  // each keeps every other draw for the next call
  std::mt19937 centre(static_cast<unsigned>(rng() % 40));
  std::vector<float> vector(dimensions);
  double sum = 0;
  for (float& value : vector) {
    value = normal_of_centre(centre) + 0.7F * normal(rng);
    sum += static_cast<double>(value) * value;
  }
  for (float& value : vector) value = static_cast<float>(value / std::sqrt(sum));
  return vector;
}

std::vector<Bf16> packed(const std::vector<float>& vector) {
  std::vector<Bf16> halves;
  for (const float value : vector) halves.push_back(to_bf16(value));
  return halves;
}

std::shared_ptr<Vectors> make_vectors(std::mt19937& rng, std::size_t count, VectorOptions options) {
  auto vectors = std::make_shared<Vectors>(dimensions, options);
  for (std::size_t i = 0; i < count; ++i)
    vectors->add(static_cast<ChunkId>(i * 2 + 1), static_cast<DocumentId>(i / 3), packed(random_vector(rng)));
  vectors->settle();
  return vectors;
}

double recall(const std::vector<Hit>& found, const std::vector<Hit>& exact) {
  std::set<ChunkId> wanted;
  for (const Hit& hit : exact) wanted.insert(hit.chunk);
  std::size_t same = 0;
  for (const Hit& hit : found) same += wanted.count(hit.chunk);
  return exact.empty() ? 1 : static_cast<double>(same) / static_cast<double>(exact.size());
}

TEST(Dot, IsTheSameByEveryWay) {
  std::mt19937 rng{1};
  std::normal_distribution<float> normal;
  for (std::size_t size = 0; size < 200; ++size) {
    std::vector<Bf16> a(size), b(size);
    std::vector<float> floats(size);
    double exact = 0, exact_both = 0;
    for (std::size_t i = 0; i < size; ++i) {
      a[i] = to_bf16(normal(rng));
      b[i] = to_bf16(normal(rng));
      floats[i] = normal(rng);
      exact += static_cast<double>(to_float(a[i])) * floats[i];
      exact_both += static_cast<double>(to_float(a[i])) * to_float(b[i]);
    }
    for (const NamedDot& way : all_dots()) {
      EXPECT_NEAR(way.dot(a.data(), floats.data(), size), exact, 1e-4) << way.name << " " << size;
      EXPECT_NEAR(way.dot_both(a.data(), b.data(), size), exact_both, 1e-4) << way.name << " " << size;
    }
  }
}

TEST(Bf16, IsTheNearest) {
  EXPECT_EQ(to_float(to_bf16(1.0F)), 1.0F);
  EXPECT_EQ(to_float(to_bf16(-0.3333F)), -0.333984375F);
}

TEST(Vectors, FindNothingInNothing) {
  const auto vectors = std::make_shared<Vectors>(dimensions, VectorOptions{});
  const std::vector<float> query(dimensions, 1.0F);
  EXPECT_TRUE(vectors->view(nullptr, {}).nearest(query, 10, nullptr).empty());
}

TEST(Vectors, AreExactWhileFew) {
  std::mt19937 rng{2};
  const auto vectors = make_vectors(rng, 500, {});
  EXPECT_FALSE(vectors->has_graph());
  const auto view = vectors->view(nullptr, {});
  for (int round = 0; round < 50; ++round) {
    auto query = random_vector(rng);
    const auto hits = view.nearest(query, 10, nullptr);
    ASSERT_EQ(hits.size(), 10U);
    EXPECT_EQ(shown(hits), shown(view.nearest_exact(query, 10, nullptr)));
    EXPECT_GT(hits[0].score, 0.3F);
    for (float& value : query) value *= 7;  // the cosine, whatever the length
    EXPECT_NEAR(view.nearest(query, 10, nullptr)[0].score, hits[0].score, 1e-6);
  }
  EXPECT_TRUE(view.nearest(std::vector<float>(dimensions + 1), 10, nullptr).empty());
}

TEST(Vectors, OverAGraphFindNearlyAllOfTheNearest) {
  std::mt19937 rng{3};
  const auto vectors = make_vectors(
      rng, 3000, {.exact_up_to = 100, .search_effort = 64, .walk_comparisons = 100, .threads = 2});
  ASSERT_TRUE(vectors->has_graph());
  const auto view = vectors->view(nullptr, {});
  double sum = 0;
  for (int round = 0; round < 200; ++round) {
    const auto query = random_vector(rng);
    const auto exact = view.nearest_exact(query, 10, nullptr);
    const auto found = view.nearest(query, 10, nullptr);
    ASSERT_EQ(found.size(), 10U);
    sum += recall(found, exact);
    for (std::size_t i = 1; i < found.size(); ++i) EXPECT_GE(found[i - 1].score, found[i].score);
  }
  EXPECT_GT(sum / 200, 0.97);
}

// A page's footer is in an index a hundred times. Any of the equal ones may be found, but they must stay
// reachable.
TEST(Vectors, OverAGraphFindWhatStandsThereManyTimes) {
  std::mt19937 rng{12};
  auto vectors = std::make_shared<Vectors>(
      dimensions, VectorOptions{.exact_up_to = 100, .search_effort = 64, .walk_comparisons = 100});
  std::vector<std::vector<float>> distinct;
  for (int i = 0; i < 40; ++i) distinct.push_back(random_vector(rng));
  for (ChunkId id = 1; id <= 3000; ++id)
    vectors->add(id, id, packed(id % 3 == 0 ? random_vector(rng) : distinct[rng() % distinct.size()]));
  vectors->settle();
  const auto view = vectors->view(nullptr, {});
  double sum = 0;
  for (int round = 0; round < 200; ++round) {
    const auto query = random_vector(rng);
    const auto exact = view.nearest_exact(query, 10, nullptr);
    for (const Hit& hit : view.nearest(query, 10, nullptr))
      sum += hit.score >= exact.back().score - 1e-6F ? 0.1 : 0;
  }
  EXPECT_GT(sum / 200, 0.97);
}

TEST(Vectors, NeverFindTheDeadNorOtherDocuments) {
  std::mt19937 rng{4};
  const auto vectors = make_vectors(
      rng, 3000, {.exact_up_to = 100, .search_effort = 64, .walk_comparisons = 100, .threads = 2});
  std::vector<Removed> removed;
  for (ChunkId id = 1; id < 6'000; id += 1 + static_cast<ChunkId>(rng() % 40))
    removed.push_back({id, id + 7});
  const auto before = vectors->view(nullptr, {});
  const auto view = vectors->view(&before, removed);
  EXPECT_GT(view.dead(), 600U);
  EXPECT_EQ(before.dead(), 0U);
  const auto is_removed = [&](ChunkId id) {
    return std::any_of(removed.begin(), removed.end(),
                       [&](const Removed& one) { return one.first <= id && id <= one.last; });
  };
  double sum = 0;
  int rounds = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<DocumentId> only;
    const unsigned share = round % 2 == 0 ? 2 : 40;  // walks the graph; compares with all of them
    for (DocumentId id = 0; id < 3000 / 3; ++id)
      if (rng() % share == 0) only.push_back(id);
    const std::vector<DocumentId>* filter = round % 5 == 0 ? nullptr : &only;
    const auto query = random_vector(rng);
    const auto hits = view.nearest(query, 10, filter);
    for (const Hit& hit : hits) {
      EXPECT_FALSE(is_removed(hit.chunk));
      if (filter != nullptr) {
        EXPECT_TRUE(std::binary_search(only.begin(), only.end(), hit.document));
      }
    }
    sum += recall(hits, view.nearest_exact(query, 10, filter));
    ++rounds;
  }
  EXPECT_GT(sum / rounds, 0.97);
  const auto compact = vectors->compacted(view);
  EXPECT_EQ(compact->size(), view.living());
}

TEST(Vectors, CanBeSearchedWhileSomeAreAdded) {
  std::mt19937 rng{5};
  const auto vectors = make_vectors(
      rng, 1000, {.exact_up_to = 100, .search_effort = 64, .walk_comparisons = 100, .threads = 2});
  const auto view = vectors->view(nullptr, {});
  std::atomic<bool> done{false};
  std::atomic<int> searched{0};
  std::jthread reader([&] {
    std::mt19937 own{6};
    while (!done) {
      for (const Hit& hit : view.nearest(random_vector(own), 10, nullptr)) EXPECT_LE(hit.chunk, 2000);
      ++searched;
    }
  });
  while (searched == 0) std::this_thread::yield();
  for (std::size_t i = 1000; i < 2000; ++i)
    vectors->add(static_cast<ChunkId>(i * 2 + 1), static_cast<DocumentId>(i / 3), packed(random_vector(rng)));
  vectors->settle();
  done = true;
  reader.join();
  EXPECT_EQ(vectors->view(&view, {}).living(), 2000U);
}

class VectorsFile : public testing::Test {
 protected:
  base::TemporaryFolder folder_{"vectors"};
  VectorOptions options_{.exact_up_to = 100, .search_effort = 64, .walk_comparisons = 100, .threads = 1};
};

TEST_F(VectorsFile, GivesBackWhatWasSavedAndGrowsOn) {
  std::mt19937 rng{7};
  for (const std::size_t count : {0U, 50U, 1500U}) {
    const auto vectors = make_vectors(rng, count, options_);
    const Removed some[] = {{11, 21}, {51, 51}};
    const auto view = vectors->view(nullptr, some);
    ASSERT_TRUE(vectors->save(folder_ / "v", view, 4, 9, 5000));
    auto loaded = Vectors::load(folder_ / "v", 4, dimensions, options_);
    ASSERT_TRUE(loaded) << loaded.error().what;
    EXPECT_EQ(loaded->vectors->revision(), 9);
    EXPECT_EQ(loaded->vectors->highest(), 5000);
    EXPECT_EQ(loaded->view.living(), view.living());
    EXPECT_EQ(loaded->vectors->has_graph(), count > 100);
    for (int round = 0; round < 30; ++round) {
      const auto query = random_vector(rng);
      EXPECT_EQ(shown(loaded->view.nearest(query, 10, nullptr)), shown(view.nearest(query, 10, nullptr)));
    }
    for (ChunkId id = 5001; id < 5301; ++id) loaded->vectors->add(id, id, packed(random_vector(rng)));
    loaded->vectors->settle();
    const auto grown = loaded->vectors->view(&loaded->view, {});
    EXPECT_EQ(grown.living(), view.living() + 300);
    const auto query = random_vector(rng);
    EXPECT_GE(recall(grown.nearest(query, 10, nullptr), grown.nearest_exact(query, 10, nullptr)), 0.8);
  }
}

TEST_F(VectorsFile, IsRefusedWhereItIsOfAnother) {
  std::mt19937 rng{8};
  const auto vectors = make_vectors(rng, 50, options_);
  ASSERT_TRUE(vectors->save(folder_ / "v", vectors->view(nullptr, {}), 4, 9, 500));
  EXPECT_EQ(Vectors::load(folder_ / "v", 5, dimensions, options_).error().code, Errc::damaged);
  EXPECT_EQ(Vectors::load(folder_ / "v", 4, dimensions + 1, options_).error().code, Errc::damaged);
  EXPECT_EQ(Vectors::load(folder_ / "none", 4, dimensions, options_).error().code, Errc::not_found);
}

// With a matching checksum: refused, or searched safely.
TEST_F(VectorsFile, IsRefusedOrSearchableWhateverIsWrong) {
  std::mt19937 rng{9};
  const auto vectors = make_vectors(rng, 300, options_);
  ASSERT_TRUE(vectors->save(folder_ / "v", vectors->view(nullptr, {}), 4, 9, 5000));
  const auto file = base::MappedFile::open(folder_ / "v");
  ASSERT_TRUE(file);
  const auto original = file->bytes();
  std::vector<std::uint64_t> words(original.size() / 8);
  const std::span bytes = std::as_writable_bytes(std::span(words));
  std::size_t passed = 0, refused = 0;
  const auto query = random_vector(rng);
  for (int round = 0; round < 1500; ++round) {
    std::memcpy(bytes.data(), original.data(), original.size());
    const std::size_t at = round % 3 == 0 ? rng() % sizeof(VectorsHeader) : rng() % bytes.size();
    bytes[at] ^= static_cast<std::byte>(1U << (rng() % 8));
    EXPECT_FALSE(Vectors::read(bytes, nullptr, 4, dimensions, options_));
    const std::uint64_t sum = checksum_of_vectors(bytes);
    std::memcpy(bytes.data() + offsetof(VectorsHeader, checksum), &sum, sizeof(sum));
    const auto read = Vectors::read(bytes, nullptr, 4, dimensions, options_);
    ++(read ? passed : refused);
    if (read) (void)read->view.nearest(query, 10, nullptr);
  }
  EXPECT_GT(passed, 100U);
  EXPECT_GT(refused, 100U);
}

}  // namespace
}  // namespace plimsoll::search
