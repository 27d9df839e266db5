// Model types that no downloaded tokenizer has: compares small trained models with Hugging Face's
// counts (tests/vectors/make_small_vectors.py).
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/source_dir.hpp"
#include "base/temporary_folder.hpp"
#include "plimsoll/tokenizers.hpp"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;

class SmallModel : public testing::TestWithParam<const char*> {};

TEST_P(SmallModel, CountsAsHuggingFaceDoes) {
  const fs::path folder = base::source_dir() / "tests" / "vectors" / "small";
  const base::TemporaryFolder cache("small");
  const TokenizerLibrary library(cache / "assets", cache / "compiled");
  const auto tokenizer = library.open_file(folder / (std::string(GetParam()) + ".json"));
  ASSERT_TRUE(tokenizer.has_value()) << tokenizer.error().what;

  std::ifstream cases(folder / (std::string(GetParam()) + ".tsv"));
  int checked = 0;
  for (std::string line; std::getline(cases, line); ++checked) {
    const std::size_t tab = line.rfind('\t');
    const auto text = nlohmann::json::parse(line.substr(0, tab)).get<std::string>();
    const Tokens expected = std::stoll(line.substr(tab + 1));
    ASSERT_EQ(tokenizer->count(text), expected) << line;
    ASSERT_EQ(static_cast<Tokens>(tokenizer->encode(text).size()), expected) << line;
    Counter counter(*tokenizer);
    for (const char c : text) counter.append({&c, 1});
    ASSERT_EQ(counter.total(), expected) << line;
    const std::size_t half = tokenizer->split_at(text, expected / 2);
    ASSERT_LE(tokenizer->count(std::string_view(text).substr(0, half)), expected / 2) << line;
  }
  EXPECT_GT(checked, 400);
}

INSTANTIATE_TEST_SUITE_P(Kinds, SmallModel,
                         testing::Values("unigram", "wordpiece", "byte-bpe-prefixed", "metaspace-bpe",
                                         "other-pattern"),
                         [](const auto& kind) {
                           std::string name = kind.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace plimsoll
