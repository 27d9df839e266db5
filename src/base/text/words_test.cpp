#include "base/text/words.hpp"

#include <random>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace plimsoll::base {
namespace {

// "stem" or "stem*" for a stop word, joined by spaces.
std::string stems(std::string_view text) {
  std::vector<Word> words;
  read_words(text, words);
  std::string all;
  for (const Word& word : words)
    all += fmt::format("{}{}{}", all.empty() ? "" : " ", word.stem, word.stop ? "*" : "");
  return all;
}

TEST(Words, AreFoldedAndStemmed) {
  EXPECT_EQ(stems("Running dogs RAN, ponies: 42 times."), "run dog ran poni 42 time");
  EXPECT_EQ(stems("generalization generalizations"), "general general");
}

TEST(Words, SplitAtSignsAndUnderscores) {
  EXPECT_EQ(stems("foo_bar->baz(3.14) x86-64 utf8"), "foo bar baz 3 14 x86 64 utf8");
  EXPECT_EQ(stems("___ ... \n\t"), "");
  EXPECT_EQ(stems(""), "");
}

TEST(Words, OfIdentifiersAreFoundToo) {
  EXPECT_EQ(stems("CORSMiddleware"), "corsmiddlewar cor middlewar");
  EXPECT_EQ(stems("CORS"), "cor");
  EXPECT_EQ(stems("include_in_schema includeInSchema"),
            "includ in* schema includeinschema includ in* schema");
  EXPECT_EQ(stems("utf8Decode parseXMLDocument"), "utf8decode utf8 decod parsexmldocu pars xml document");
  EXPECT_EQ(stems("URLs APIs Title x iPhone"), "url api titl x iphon phone");
  EXPECT_EQ(stems("naïveWord"), "naiveword");
  std::vector<Word> words;
  read_words("a fooBar b", words);
  ASSERT_EQ(words.size(), 5U);
  EXPECT_EQ(words[1], (Word{"foobar", 2, 8, false}));
  EXPECT_EQ(words[2], (Word{"foo", 2, 5, false}));
  EXPECT_EQ(words[3], (Word{"bar", 5, 8, false}));
  EXPECT_EQ(words[4].start, 9U);
}

TEST(Words, WithDigitsAreNotStemmed) {
  EXPECT_EQ(stems("abc123ing tests"), "abc123ing test");
}

TEST(Words, KnowApostrophes) {
  EXPECT_EQ(stems("the dog\xE2\x80\x99s don't DON'T we're"), "the* dog don't* don't* we'r*");
  EXPECT_EQ(stems("l'eau O'Reilly 'quoted' dogs'"), "l eau o reilli quot dog");
}

TEST(Words, MarkStopWords) {
  EXPECT_EQ(stems("What is the capital of France"), "what* is* the* capit of* franc");
}

TEST(Words, FoldAccents) {
  EXPECT_EQ(stems("Café cafe\u0301 CAFÉ"), "cafe cafe cafe");
  EXPECT_EQ(stems("Straße Ærø Łódź naïve ﬁx"), "strass aero lodz naiv fix");
  EXPECT_EQ(stems("ΑΘΉΝΑ αθηνα"), "αθηνα αθηνα");
  EXPECT_EQ(stems("ＦＵＬＬ"), "full");
}

TEST(Words, KeepIndicVowelSigns) {
  EXPECT_NE(stems("कि"), stems("का"));
}

TEST(Words, GivePairsWhereScriptsHaveNoSpaces) {
  EXPECT_EQ(stems("東京都"), "東京 京都");
  EXPECT_EQ(stems("日"), "日");
  EXPECT_EQ(stems("日。本語x東京"), "日 本語 x 東京");
  EXPECT_EQ(stems("한국어 조선"), "한국 국어 조선");
  EXPECT_EQ(stems("がか"), "がか");
}

TEST(Words, SayWhereTheyStand) {
  std::vector<Word> words(1, Word{"left over", 9, 9, true});
  read_words("An Émigré's 東京都!", words);
  ASSERT_EQ(words.size(), 4U);
  EXPECT_EQ(words[0], (Word{"an", 0, 2, true}));
  EXPECT_EQ(words[1], (Word{"emigr", 3, 13, false}));
  EXPECT_EQ(words[2], (Word{"東京", 14, 20, false}));
  EXPECT_EQ(words[3], (Word{"京都", 17, 23, false}));
}

TEST(Words, AreCutWhenTheyNeverEnd) {
  std::vector<Word> words;
  read_words(std::string(1'000'000, '7') + " " + std::string(100, 'e'), words);
  ASSERT_EQ(words.size(), 2U);
  EXPECT_EQ(words[0].stem, std::string(longest_word_bytes, '7'));
  EXPECT_EQ(words[0].end, 1'000'000U);
  EXPECT_LE(words[1].stem.size(), longest_word_bytes);
  read_words(
      "a" +
          [] {
            std::string many;
            for (int i = 0; i < 50; ++i) many += "д";
            return many;
          }(),
      words);
  EXPECT_EQ(words.at(0).stem.size(), 63U);  // cut between characters
}

TEST(Words, TakeAnyBytes) {
  EXPECT_EQ(stems("dog\xFF\xFE"
                  "cat\xC3 \xE6\x97 fish\xF0\x9F"),
            "dog cat fish");
  std::mt19937 rng{7};
  std::size_t seen = 0;
  std::vector<Word> words;
  for (int round = 0; round < 2'000; ++round) {
    std::string text;
    for (int i = 0; i < 60; ++i) {
      static constexpr std::array<std::string_view, 12> parts{
          "a", "'s", "\xE6\x97\xA5", "\xE2\x80\x99", "é", " ", "Z9", "\xFF", "\xE6", "\u0301", "ก", "\xF0"};
      text += parts[rng() % parts.size()];
    }
    read_words(text, words);
    std::uint32_t last = 0;
    for (const Word& word : words) {
      ++seen;
      EXPECT_FALSE(word.stem.empty());
      EXPECT_LT(word.start, word.end);
      EXPECT_LE(word.end, text.size());
      EXPECT_GE(word.start, last);
      last = word.start;
    }
  }
  EXPECT_GT(seen, 10'000U);
}

// The cache of stems must give the same as stemming, whatever it contained before.
TEST(Words, StemTheSameWhateverCameBefore) {
  std::mt19937 rng{11};
  std::vector<std::string> words;
  for (int i = 0; i < 20'000; ++i) {
    std::string word;
    for (std::size_t n = 1 + rng() % 12; n > 0; --n) word += static_cast<char>('a' + rng() % 4);
    words.push_back(word + (rng() % 2 == 0 ? "ing" : "ed"));
  }
  std::vector<std::string> first;
  for (const std::string& word : words) first.emplace_back(stem_word(word).stem);
  std::thread([&] {  // its own table, filled in another order
    for (std::size_t i = words.size(); i-- > 0;) EXPECT_EQ(stem_word(words[i]).stem, first[i]);
  })
      .join();
}

}  // namespace
}  // namespace plimsoll::base
