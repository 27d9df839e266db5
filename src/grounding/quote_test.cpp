#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plimsoll/grounding.hpp"

namespace plimsoll {
namespace {

TEST(QuoteAnswer, TakesTheBestInReadingOrderWithTheirSources) {
  const QuotableSentence sentences[] = {{"A mark on\n  the hull.", 1, 0.9F, 0.65F},
                                        {"Ships are painted red.", 1, 0.5F, 0.2F},
                                        {"1. It shows how deep a ship may be loaded.", 2, 1.0F, 0.7F}};
  const QuotedAnswer answer = quote_answer(sentences);
  EXPECT_EQ(answer.text, "A mark on the hull. [1] It shows how deep a ship may be loaded. [2]");
  EXPECT_EQ(answer.sentences, (std::vector<std::size_t>{0, 2}));
}

TEST(QuoteAnswer, IsEmptyIfNothingIsRelevant) {
  const QuotableSentence sentences[] = {{"A mark on the hull.", 1, 1.0F, 0.2F}};
  EXPECT_EQ(quote_answer(sentences).text, "");
  EXPECT_EQ(quote_answer({}).text, "");
}

TEST(QuoteAnswer, LeavesOutHeadingsQuestionsAndRepetitions) {
  const QuotableSentence sentences[] = {{"# The load line", 1, 1.0F, 0.9F},
                                        {"What is the load line?", 1, 1.0F, 0.9F},
                                        {"The load line is a mark.", 1, 0.9F, 0.8F},
                                        {"The load line is  a mark.", 2, 0.9F, 0.8F}};
  EXPECT_EQ(quote_answer(sentences).text, "The load line is a mark. [1]");
}

TEST(QuoteAnswer, SaysNothingTwice) {
  const QuotableSentence sentences[] = {{"The load line is\na mark.", 1, 1.0F, 0.9F},
                                        {"It is painted on the hull.", 1, 0.9F, 0.5F}};
  QuoteLimits limits;
  limits.already_said = "The load line is a mark. [1]";
  EXPECT_EQ(quote_answer(sentences, limits).text, "It is painted on the hull. [1]");
  limits.already_said = "The load line is a mark. [1] It is painted on the hull. [1]";
  EXPECT_EQ(quote_answer(sentences, limits).text, "");
}

TEST(QuoteAnswer, LeavesOutATitleBeforeASentence) {
  const QuotableSentence sentences[] = {
      {"Warranty\n\nThe lamp has a warranty of\ntwo years.", 1, 1.0F, 0.9F}};
  EXPECT_EQ(quote_answer(sentences).text, "The lamp has a warranty of two years. [1]");
}

TEST(QuoteAnswer, ARowOfATableHasNoMarksAroundIt) {
  const QuotableSentence sentences[] = {{"| Hotel | 140 EUR per night |", 1, 1.0F, 0.9F}};
  EXPECT_EQ(quote_answer(sentences).text, "Hotel | 140 EUR per night [1]");
}

TEST(QuoteAnswer, LeavesOutCodeAndTheHeadingBeforeASentence) {
  const QuotableSentence sentences[] = {{"$ plimsoll index add ship\nship: 1 added", 1, 1.0F, 0.9F},
                                        {"if (a[0] == b[1]) { return x->y; }", 1, 1.0F, 0.9F},
                                        {"# Log\n\nThe cook is called Bertil.", 1, 0.9F, 0.8F}};
  EXPECT_EQ(quote_answer(sentences).text, "The cook is called Bertil. [1]");
}

TEST(QuoteAnswer, IsSupportedByWhatItQuotes) {
  constexpr std::string_view words[] = {"Captain", "Totten", "did",    "not",     "load",  "75",
                                        "ships",   "in",     "1861",   "the",     "hull",  "and",
                                        "it",      "was",    "red",    "num_ctx", "10%",   "never",
                                        "[1]",     "of",     "France", "(the",    "line)", "e.g."};
  std::mt19937 random(5);
  int quoted = 0;
  for (int round = 0; round < 1'000; ++round) {
    std::vector<std::string> texts;
    std::string passage;
    for (int i = 0; i < 6; ++i) {
      std::string text = "The";
      for (std::size_t n = 3 + random() % 12; n > 0; --n)
        text += (random() % 9 == 0 ? "\n" : " ") + std::string(words[random() % std::size(words)]);
      texts.push_back(text + ".");
      passage += texts.back() + (random() % 3 == 0 ? "\n\n" : " ");
    }
    std::vector<QuotableSentence> sentences;
    for (const std::string& text : texts)
      sentences.push_back({text, 1, static_cast<float>(random() % 100) / 100, 0.5F});
    const QuotedAnswer answer = quote_answer(sentences);
    const GivenPassage passages[] = {{passage}};
    const CheckedAnswer checked = check_answer(answer.text, passages);
    quoted += static_cast<int>(checked.supported);
    EXPECT_EQ(checked.unsupported, 0U) << answer.text << "\n---\n" << passage;
  }
  EXPECT_GT(quoted, 1'000);
}

}  // namespace
}  // namespace plimsoll
