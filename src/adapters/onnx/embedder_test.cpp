#include "adapters/onnx/embedder.hpp"

#include <gtest/gtest.h>

#include "base/paths.hpp"
#include "contract/embedder/embedder_contract.hpp"
#include "plimsoll/tokenizers.hpp"

namespace plimsoll::onnx {
namespace {

std::filesystem::path cache() {
  return base::cache_folder(base::current_environment());
}

Result<std::unique_ptr<Embedder>> minilm(unsigned threads = 2) {
  const auto assets = cache() / "assets";
  const TokenizerLibrary library(assets, cache() / "tokenizers");
  auto tokenizer = library.open_file(assets / "all-minilm-l6-v2/tokenizer.json");
  if (!tokenizer) return tl::unexpected<Error>(tokenizer.error());
  return make_embedder({.library = assets / "onnxruntime/libonnxruntime.so",
                        .model = assets / "all-minilm-l6-v2/model.onnx",
                        .tokenizer = *tokenizer,
                        .info = {.name = "all-minilm-l6-v2", .dimensions = 384, .max_tokens = 256},
                        .threads = threads});
}

float dot(std::span<const float> a, std::span<const float> b) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

const Deadline patience = Deadline::after(std::chrono::minutes(2));

TEST(OnnxEmbedder, PutsAQuestionNearerToItsAnswer) {
  auto embedder = minilm();
  ASSERT_TRUE(embedder) << embedder.error().what;
  const std::string_view texts[] = {"The Eiffel Tower is in Paris.", "Cats are small furry animals.", ""};
  const auto vectors = (*embedder)->embed(texts, patience);
  ASSERT_TRUE(vectors) << vectors.error().what;
  ASSERT_EQ(vectors->size(), 3 * 384u);
  const auto query = (*embedder)->embed_query("Where does the Eiffel Tower stand?", patience);
  ASSERT_TRUE(query);
  const std::span all(*vectors);
  EXPECT_GT(dot(*query, all.first(384)), 0.6F);
  EXPECT_LT(dot(*query, all.subspan(384, 384)), 0.3F);
  EXPECT_NEAR(dot(all.first(384), all.first(384)), 1.0F, 1e-4F);
}

// Quantized at run time, a batch shares one scale: the same text differs a little with its company.
TEST(OnnxEmbedder, GivesTheSameVectorWhateverTheCompany) {
  auto embedder = minilm(1);
  ASSERT_TRUE(embedder) << embedder.error().what;
  std::vector<std::string> long_texts;
  for (int i = 0; i < 40; ++i)
    long_texts.push_back("Number " + std::to_string(i * 7919) + " of the ships carried grain from Odessa.");
  std::vector<std::string_view> texts(long_texts.begin(), long_texts.end());
  const auto together = (*embedder)->embed(texts, patience);
  ASSERT_TRUE(together);
  for (std::size_t i = 0; i < texts.size(); i += 13) {
    const auto alone = (*embedder)->embed_query(texts[i], patience);
    ASSERT_TRUE(alone);
    EXPECT_GT(dot(*alone, std::span(*together).subspan(i * 384, 384)), 0.98F);
  }
}

TEST(OnnxEmbedder, ReadsAsMuchOfALongTextAsFits) {
  auto embedder = minilm(1);
  ASSERT_TRUE(embedder) << embedder.error().what;
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "plimsoll ";
  EXPECT_TRUE((*embedder)->embed_query(text, patience));
}

TEST(OnnxEmbedder, SaysWhatIsMissing) {
  const auto assets = cache() / "assets";
  const TokenizerLibrary library(assets, cache() / "tokenizers");
  auto tokenizer = library.open_file(assets / "all-minilm-l6-v2/tokenizer.json");
  ASSERT_TRUE(tokenizer) << tokenizer.error().what;
  Options options{.library = "/nowhere/libonnxruntime.so",
                  .model = assets / "all-minilm-l6-v2/model.onnx",
                  .tokenizer = *tokenizer,
                  .info = {.name = "all-minilm-l6-v2", .dimensions = 384, .max_tokens = 256}};
  const auto without_library = make_embedder(options);
  ASSERT_FALSE(without_library);
  EXPECT_EQ(without_library.error().code, Errc::not_found);
  EXPECT_NE(without_library.error().what.find("tools/setup assets"), std::string::npos);
  options.model = "/nowhere/model.onnx";
  const auto without_model = make_embedder(options);
  ASSERT_FALSE(without_model);
  EXPECT_EQ(without_model.error().code, Errc::not_found);
}

TEST(OnnxEmbedder, StopsAtTheDeadline) {
  auto embedder = minilm(1);
  ASSERT_TRUE(embedder) << embedder.error().what;
  const auto late = (*embedder)->embed_query("anything", Deadline::after(std::chrono::seconds(-1)));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::timed_out);
}

}  // namespace
}  // namespace plimsoll::onnx

namespace plimsoll {

INSTANTIATE_TEST_SUITE_P(Onnx, EmbedderContract,
                         testing::Values(EmbedderMaker{"MiniLm",
                                                       []() -> Result<std::shared_ptr<Embedder>> {
                                                         auto made = onnx::minilm();
                                                         if (!made) return tl::unexpected(made.error());
                                                         return std::shared_ptr<Embedder>(*std::move(made));
                                                       }}),
                         [](const auto& made) { return made.param.name; });

}  // namespace plimsoll
