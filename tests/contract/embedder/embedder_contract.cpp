#include "contract/embedder/embedder_contract.hpp"

#include <atomic>
#include <thread>
#include <vector>

namespace plimsoll {
namespace {

const Deadline patience = Deadline::after(std::chrono::minutes(5));

float dot(std::span<const float> a, std::span<const float> b) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

void EmbedderContract::SetUp() {
  auto made = GetParam().make();
  ASSERT_TRUE(made) << made.error().what;
  embedder_ = *std::move(made);
}

std::vector<float> EmbedderContract::embedded(std::span<const std::string_view> texts) {
  auto vectors = embedder_->embed(texts, patience);
  EXPECT_TRUE(vectors) << vectors.error().what;
  return vectors ? *std::move(vectors) : std::vector<float>();
}

TEST_P(EmbedderContract, SaysWhatItIs) {
  EXPECT_FALSE(embedder_->info().name.empty());
  EXPECT_GT(embedder_->info().dimensions, 0U);
  EXPECT_GE(embedder_->info().max_tokens, 0);
}

TEST_P(EmbedderContract, GivesOneUnitVectorForEachTextInOrder) {
  const std::string_view texts[] = {"The anchor is up.", "", "Bread is baked on Fridays by the cook."};
  const std::size_t size = embedder_->info().dimensions;
  const std::vector<float> together = embedded(texts);
  ASSERT_EQ(together.size(), 3 * size);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::span<const float> vector = std::span(together).subspan(i * size, size);
    EXPECT_NEAR(dot(vector, vector), 1, 1e-3) << i;
    const std::vector<float> alone = embedded(std::span(texts).subspan(i, 1));
    ASSERT_EQ(alone.size(), size);
    EXPECT_GT(dot(vector, alone), 0.97F) << i;  // a batch may round differently
  }
}

TEST_P(EmbedderContract, GivesNothingForNothing) {
  EXPECT_TRUE(embedded({}).empty());
}

TEST_P(EmbedderContract, EmbedsAQuestionAsLongAsATextIs) {
  const auto query = embedder_->embed_query("Where is the anchor?", patience);
  ASSERT_TRUE(query) << query.error().what;
  ASSERT_EQ(query->size(), embedder_->info().dimensions);
  EXPECT_NEAR(dot(*query, *query), 1, 1e-3);
}

TEST_P(EmbedderContract, CutsATextThatIsTooLong) {
  std::string text;
  for (int i = 0; i < 4'000; ++i) text += "anchor ";
  const std::string_view texts[] = {text};
  EXPECT_EQ(embedded(texts).size(), embedder_->info().dimensions);
}

TEST_P(EmbedderContract, TakesBytesThatAreNoUtf8) {
  const std::string_view texts[] = {"\xff\xfe broken", "\xe2\x82"};
  const auto vectors = embedder_->embed(texts, patience);
  if (!vectors) return;  // an error is as good
  EXPECT_EQ(vectors->size(), 2 * embedder_->info().dimensions);
}

TEST_P(EmbedderContract, MayBeUsedFromManyThreads) {
  const std::string_view texts[] = {"The anchor is up.", "Bread is baked."};
  const std::vector<float> expected = embedded(texts);
  std::atomic<int> same = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const auto vectors = embedder_->embed(texts, patience);
      if (vectors && vectors->size() == expected.size() && dot(*vectors, expected) > 1.9F) ++same;
    });
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(same, 4);
}

}  // namespace plimsoll
