#include "adapters/onnx/reranker.hpp"

#include <gtest/gtest.h>

#include "base/paths.hpp"
#include "plimsoll/tokenizers.hpp"

namespace plimsoll::onnx {
namespace {

// The weights are optional: `tools/setup reranker` fetches them.
TEST(OnnxReranker, PrefersTheTextThatAnswers) {
  const auto assets = base::cache_folder(base::current_environment()) / "assets";
  const auto folder = assets / "ms-marco-minilm-l-12-v2";
  if (!std::filesystem::exists(folder / "model.onnx")) GTEST_SKIP() << "no weights";
  const TokenizerLibrary library(assets, base::cache_folder(base::current_environment()) / "tokenizers");
  auto tokenizer = library.open_file(folder / "tokenizer.json");
  ASSERT_TRUE(tokenizer) << tokenizer.error().what;
  auto reranker = make_reranker({.library = assets / "onnxruntime/libonnxruntime.so",
                                 .model = folder / "model.onnx",
                                 .tokenizer = *tokenizer,
                                 .name = "test",
                                 .threads = 2});
  ASSERT_TRUE(reranker) << reranker.error().what;
  std::vector<std::string> many(20, "The ferry leaves at nine, and it is often late.");
  many[7] = "The Eiffel Tower is in Paris.";
  const std::vector<std::string_view> texts(many.begin(), many.end());
  const auto scores =
      (*reranker)->score("Where is the Eiffel Tower?", texts, Deadline::after(std::chrono::minutes(2)));
  ASSERT_TRUE(scores) << scores.error().what;
  ASSERT_EQ(scores->size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_GE((*scores)[i], 0);
    EXPECT_LE((*scores)[i], 1);
    if (i != 7) {
      EXPECT_LT((*scores)[i] + 0.5F, (*scores)[7]);
    }
  }
  const auto late = (*reranker)->score("Where?", texts, Deadline::after(std::chrono::seconds(-1)));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::timed_out);
}

TEST(OnnxReranker, SaysWhatIsMissing) {
  const auto assets = base::cache_folder(base::current_environment()) / "assets";
  const TokenizerLibrary library(assets, base::cache_folder(base::current_environment()) / "tokenizers");
  auto tokenizer = library.open_file(assets / "all-minilm-l6-v2/tokenizer.json");  // the same vocabulary
  ASSERT_TRUE(tokenizer) << tokenizer.error().what;
  const auto made = make_reranker({.library = assets / "onnxruntime/libonnxruntime.so",
                                   .model = "no-such-model.onnx",
                                   .tokenizer = *tokenizer,
                                   .name = "test"});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Errc::not_found);
}

}  // namespace
}  // namespace plimsoll::onnx
