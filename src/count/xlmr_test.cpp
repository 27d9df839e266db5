// XLM-RoBERTa's tokenizer, from the weights of multilingual-e5-small: compares ids with those of
// SentencePiece (tests/vectors/make_e5_vectors.py).
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/source_dir.hpp"
#include "base/temporary_folder.hpp"
#include "base/weights/testing_e5.hpp"
#include "plimsoll/tokenizers.hpp"

namespace plimsoll {
namespace {

std::vector<TokenId> numbers_in(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<TokenId>(in), {}};
}

TEST(XlmRoberta, TokensAreThoseOfSentencePiece) {
  const auto cache = base::cache_folder(base::current_environment());
  const auto file = cache / "models/e5-small-q4.bin";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "run `plimsoll model get multilingual-e5-small`";
  const auto tokenizer = TokenizerLibrary(cache / "assets", cache / "tokenizers").open_file(file);
  ASSERT_TRUE(tokenizer) << tokenizer.error().what;
  std::ifstream cases(base::source_dir() / "tests/vectors/xlmr.tsv");
  int checked = 0;
  for (std::string line; std::getline(cases, line); ++checked) {
    const std::size_t tab = line.rfind('\t');
    const auto text = nlohmann::json::parse(line.substr(0, tab)).get<std::string>();
    const auto expected = numbers_in(line.substr(tab + 1));
    ASSERT_EQ(tokenizer->encode(text), expected) << line;
    ASSERT_EQ(tokenizer->count(text), std::ssize(expected)) << line;
    Counter counter(*tokenizer);
    for (const char c : text) counter.append({&c, 1});
    ASSERT_EQ(counter.total(), std::ssize(expected)) << line;
  }
  EXPECT_GT(checked, 300);
}

TEST(XlmRoberta, ItsVocabularyIsReadFromTheWeights) {
  const base::TemporaryFolder folder("xlmr");
  ASSERT_TRUE(base::write_atomically(folder / "tiny.bin", base::TinyE5::file()));
  const TokenizerLibrary library(folder / "assets", folder / "compiled");
  const auto tokenizer = library.open_file(folder / "tiny.bin");
  ASSERT_TRUE(tokenizer) << tokenizer.error().what;
  EXPECT_EQ(tokenizer->encode("</s>", Specials::parsed), std::vector<TokenId>{2});
  EXPECT_EQ(tokenizer->encode(" b\tb  "), (std::vector<TokenId>{4, 6, 4, 6}));
  EXPECT_EQ(tokenizer->encode("\u4e2d\u6587b"), (std::vector<TokenId>{4, 3, 6}));  // one unknown, not two
  for (const std::string text : {"ab  cd e", "  a   b ", "c\t\u200b d", "abc def\n"}) {
    Counter counter(*tokenizer);
    for (const char c : text) counter.append({&c, 1});
    EXPECT_EQ(counter.total(), tokenizer->count(text)) << text;
  }
}

}  // namespace
}  // namespace plimsoll
