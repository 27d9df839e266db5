#include "count/split/pretokenize.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "base/sanitized.hpp"
#include "count/split/regex_split.hpp"
#include "count/split/unicode.hpp"
#include "count/vocabulary/known_patterns.hpp"

namespace plimsoll::count {
namespace {

std::vector<std::size_t> walk(Splitter splitter, std::string_view text) {
  PreTokenizer pre;
  pre.splitter = splitter;
  Classes scratch;
  PieceWalk pieces(pre, scratch, text);
  std::vector<std::size_t> ends;
  for (auto batch = pieces.next(); !batch.empty(); batch = pieces.next())
    ends.insert(ends.end(), batch.begin(), batch.end());
  return ends;
}

std::string shown(std::string_view text, const std::vector<std::size_t>& ends) {
  std::string out;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    out += "[" + std::string(text.substr(begin, end - begin)) + "]";
    begin = end;
  }
  return out;
}

struct Family {
  const char* gguf_name;
  Splitter splitter;
};
constexpr Family families[] = {{"gpt-2", Splitter::gpt2},          {"smollm", Splitter::gpt2_digits},
                               {"llama-bpe", Splitter::cl100k},    {"qwen2", Splitter::cl100k_digit},
                               {"gpt-4o", Splitter::o200k},        {"tekken", Splitter::tekken},
                               {"deepseek-v3", Splitter::deepseek}};

// Pieces of text in which borders are likely to be odd. PCRE2's tables are of an older Unicode than
// ours, so all characters are ones that both know.
constexpr std::string_view parts[] = {"a",
                                      "b",
                                      "A",
                                      "B",
                                      "aB",
                                      "Ab",
                                      "word",
                                      "Word",
                                      "WORD",
                                      " ",
                                      "  ",
                                      "   ",
                                      "\t",
                                      "\n",
                                      "\r\n",
                                      "\r",
                                      "\n\n",
                                      " \n",
                                      "\n ",
                                      "\x0b",
                                      "\x0c",
                                      "\u00a0",
                                      "\u3000",
                                      "\u2028",
                                      "\u0085",
                                      ".",
                                      ",",
                                      "!",
                                      "'",
                                      "'s",
                                      "'t",
                                      "'re",
                                      "'VE",
                                      "'ll",
                                      "'LL",
                                      "'d",
                                      "'\u017f",
                                      "\u2019s",
                                      "/",
                                      "//",
                                      "-",
                                      "_",
                                      "(",
                                      "\"",
                                      "1",
                                      "12",
                                      "123",
                                      "1234",
                                      "\u0664\u0665",
                                      "\u00bd",
                                      "\u2167",
                                      "\u00e9",
                                      "\u00c9",
                                      "e\u0301",
                                      "\u0301",
                                      "\u0e01\u0e34",
                                      "\u0915\u093f",
                                      "\u4e2d",
                                      "\u6587",
                                      "\u3042",
                                      "\u30ab",
                                      "\u30fc",
                                      "\u30fb",
                                      "\uac00",
                                      "\u0416",
                                      "\u0436",
                                      "\u03a9",
                                      "\u03c9",
                                      "\u01c5",
                                      "\u02b0",
                                      "\u2764\ufe0f",
                                      "\U0001F600",
                                      "\U0001F468\u200d\U0001F469",
                                      "\u200b",
                                      "\u200d",
                                      "\x00",
                                      "\x01",
                                      "\x7f",
                                      "\ufffd",
                                      "\ue000",
                                      "<",
                                      "|",
                                      "$",
                                      "+",
                                      "\u20ac",
                                      "\u3002",
                                      "\uff0c",
                                      "\u201c"};

class AgainstPcre2 : public testing::TestWithParam<Family> {};

TEST_P(AgainstPcre2, CutsRandomTextsAlike) {
  const auto steps = steps_of_gguf(GetParam().gguf_name);
  ASSERT_TRUE(steps.has_value());
  ASSERT_EQ(known_splitter(*steps), GetParam().splitter);
  const auto oracle = RegexSplitter::make(*steps);
  ASSERT_TRUE(oracle.has_value());
  std::mt19937 rng{5};
  std::size_t pieces = 0;
  for (int round = 0; round < base::cases(40'000); ++round) {
    // Mostly short texts, which fail readably; now and then one that spans several words of bits or windows.
    const std::size_t length = round % 100 == 0 ? 3000 : round % 10 == 0 ? 60 : 1 + rng() % 12;
    // From few parts at a time, so that runs and repetitions are common.
    const std::size_t variety = 1 + rng() % 6;
    std::vector<std::string_view> few;
    for (std::size_t i = 0; i < variety; ++i) few.push_back(parts[rng() % std::size(parts)]);
    std::string text;
    for (std::size_t i = 0; i < length; ++i) text += few[rng() % few.size()];
    const auto expected = (*oracle)->split(text);
    const auto found = walk(GetParam().splitter, text);
    pieces += found.size();
    if (expected != found && text.size() < 200) FAIL() << shown(text, expected) << "\n" << shown(text, found);
    ASSERT_EQ(expected, found);
  }
  EXPECT_GT(pieces, base::sanitized ? 20'000u : 200'000u);
}

// Pieces given for an open text are those of every text that begins with it.
TEST_P(AgainstPcre2, OpenTextGivesOnlyWhatStays) {
  std::mt19937 rng{6};
  std::size_t given = 0;
  for (int round = 0; round < 5'000; ++round) {
    std::string text;
    for (unsigned i = 0; i < 40; ++i) text += parts[rng() % std::size(parts)];
    std::size_t cut = rng() % text.size();
    while (cut < text.size() && is_continuation(text[cut])) ++cut;
    PreTokenizer pre;
    pre.splitter = GetParam().splitter;
    Classes scratch;
    PieceWalk open(pre, scratch, std::string_view(text).substr(0, cut), true);
    std::vector<std::size_t> early;
    for (auto batch = open.next(); !batch.empty(); batch = open.next())
      early.insert(early.end(), batch.begin(), batch.end());
    const auto whole = walk(GetParam().splitter, text);
    given += early.size();
    ASSERT_LE(early.size(), whole.size());
    ASSERT_TRUE(std::equal(early.begin(), early.end(), whole.begin())) << shown(text, early) << "\n"
                                                                       << shown(text, whole);
    ASSERT_EQ(open.position(), early.empty() ? 0 : early.back());
  }
  EXPECT_GT(given, 20'000u);
}

INSTANTIATE_TEST_SUITE_P(Families, AgainstPcre2, testing::ValuesIn(families), [](const auto& family) {
  std::string name = family.param.gguf_name;
  std::erase_if(name, [](char c) { return c == '-'; });
  return name;
});

TEST(Pretokenize, InvalidBytesAreCoveredToo) {
  std::mt19937 rng{7};
  for (int round = 0; round < 3'000; ++round) {
    std::string text(rng() % 200, '\0');
    for (char& c : text) c = static_cast<char>(rng());
    for (const Family& family : families) {
      const auto ends = walk(family.splitter, text);
      ASSERT_EQ(ends.empty() ? 0 : ends.back(), text.size());
      ASSERT_TRUE(std::ranges::is_sorted(ends));
    }
  }
}

TEST(Classify, EveryInstructionSetGivesTheSameAsThePortableOne) {
  std::array<std::uint8_t, category_values> by_category{};
  for (std::size_t i = 0; i < by_category.size(); ++i)
    by_category[i] = static_cast<std::uint8_t>((i * 37) & 0x7f);
  const ClassTable table = ClassTable::of(by_category);
  std::mt19937 rng{8};
  for (int round = 0; round < 2'000; ++round) {
    std::string text;
    const std::size_t size = rng() % 400;
    while (text.size() < size) text += parts[rng() % std::size(parts)];
    if (round % 3 == 0) {
      for (int i = 0; i < 10 && !text.empty(); ++i) text[rng() % text.size()] = static_cast<char>(rng());
    }
    Classes expected, found;
    expected.reserve(text.size());
    found.reserve(text.size());
    all_classifiers().front().run(text, table, expected);
    for (const NamedClassify& classifier : all_classifiers()) {
      classifier.run(text, table, found);
      for (std::size_t i = 0; i < text.size() + 8; ++i)
        ASSERT_EQ(expected.at(i), found.at(i)) << classifier.name << " at " << i;
      for (std::size_t i = 0; i <= (text.size() + 63) / 64; ++i) {
        ASSERT_EQ(std::memcmp(&expected.words[i], &found.words[i], sizeof(ClassWord)), 0)
            << classifier.name << " word " << i;
      }
    }
  }
}

}  // namespace
}  // namespace plimsoll::count
