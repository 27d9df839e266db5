#include <gtest/gtest.h>

#include "grounding/claims.hpp"
#include "plimsoll/grounding.hpp"

namespace plimsoll {
namespace {

constexpr std::string_view lines =
    "A Plimsoll line is a mark on the hull of a ship. It shows how deep the ship may be loaded. Samuel "
    "Plimsoll, a "
    "member of parliament, made it law in 1876. Ships without the line were not insured.";
constexpr std::string_view arsenal =
    "Captain James Totten commanded the arsenal at Little Rock. He received no instructions from his "
    "superiors and "
    "was forced to withdraw his 75 troops. Governor Rector took over the arsenal on February 8, 1861.";

CheckedAnswer check(std::string_view answer, const GroundingOptions& options = {}) {
  const GivenPassage passages[] = {{lines, "ships.md"}, {arsenal, "war.md > Arkansas"}};
  return check_answer(answer, passages, options);
}

// "supported 0", "unsupported: reason", one per sentence, separated by "|".
std::string verdicts(std::string_view answer, const GroundingOptions& options = {}) {
  std::string all;
  for (const CheckedSentence& one : check(answer, options).sentences) {
    all += (all.empty() ? "" : "|") + std::string(name_of(one.verdict));
    for (const std::size_t passage : one.passages) all += " " + std::to_string(passage);
    if (one.verdict == Verdict::unsupported) all += ": " + one.reason;
  }
  return all;
}

TEST(CheckAnswer, FindsThePassagesOfSentences) {
  EXPECT_EQ(verdicts("A Plimsoll line is a mark on a ship's hull."), "supported 0");
  EXPECT_EQ(verdicts("The line shows how deeply a ship can be loaded."), "supported 0");
  EXPECT_EQ(verdicts("Totten received no instructions and withdrew his troops."), "supported 1");
}

TEST(CheckAnswer, ANumberMustBeInThePassages) {
  EXPECT_EQ(verdicts("The Plimsoll line is 10% of the ship."), "unsupported: '10%' is in no passage");
  EXPECT_EQ(verdicts("It became law in 1876."), "supported 0");
  EXPECT_EQ(verdicts("Samuel Plimsoll made it law in 1861."),
            "unsupported: it says '1861', and the passage says '1876'");
  EXPECT_EQ(verdicts("Totten had to withdraw 75 of his troops."), "supported 1");
}

TEST(CheckAnswer, ANameMustBeWhereTheRestIs) {
  EXPECT_EQ(verdicts("Samuel Johnson made it law in 1876."), "unsupported: 'Johnson' is in no passage");
  EXPECT_EQ(verdicts("Captain Totten was forced to withdraw his 75 troops."), "supported 1");
  EXPECT_EQ(verdicts("Governor Totten took over the arsenal on February 8, 1861."),
            "unsupported: it says 'Governor Totten', and the passage says 'Governor Rector'");
  EXPECT_EQ(verdicts("In Arkansas, Governor Rector took over the arsenal."), "supported 1");
}

TEST(CheckAnswer, ADenialMustBeThePassages) {
  EXPECT_EQ(verdicts("Ships without the line were insured."), "unsupported: the passage denies 'insured'");
  EXPECT_EQ(verdicts("It does not show how deep the ship may be loaded."),
            "unsupported: it denies 'show', and the passage does not");
  EXPECT_EQ(verdicts("Ships without the line weren't insured."), "supported 0");
  EXPECT_EQ(verdicts("Samuel Plimsoll, a member of parliament, never made it law in 1876."),
            "unsupported: it denies 'made', and the passage does not");
  EXPECT_EQ(verdicts("Not only does it show how deep the ship may be loaded."), "supported 0");
}

TEST(CheckAnswer, ASentenceMayCombinePassages) {
  EXPECT_EQ(
      verdicts("Samuel Plimsoll made it law in 1876, and Governor Rector took over the arsenal in 1861."),
      "supported 0 1");
}

TEST(CheckAnswer, WordsThatAreNotTogetherAreNoSupport) {
  EXPECT_EQ(check("The parliament loaded the arsenal from the hull of instructions.").unsupported, 1U);
  EXPECT_EQ(check("Elephants migrate across the savannah in search of water.").unsupported, 1U);
}

TEST(CheckAnswer, WhatClaimsNothingNeedsNoSupport) {
  for (const std::string_view none :
       {"Hello!", "Sure.", "I don't know.", "The passages do not say who built it.", "# Summary", "```",
        "What is a ship?", "I hope this helps!",
        "Here are the steps:", "I\xE2\x80\x99m sorry, but I don\xE2\x80\x99t know."})
    EXPECT_EQ(verdicts(none), "no_claim") << none;
  EXPECT_EQ(verdicts("I don't know, but 1,000 ships sank."), "unsupported: '1,000' is in no passage");
}

TEST(CheckAnswer, SentencesHaveTheirBytes) {
  const std::string_view answer =
      "Hello! It is a mark on the hull of a ship. [1] Ships fly [2].\n- It became law in 1876";
  const CheckedAnswer checked = check(answer);
  std::string shown;
  for (const CheckedSentence& one : checked.sentences)
    shown += std::string(answer.substr(one.span.start, one.span.size())) + "|";
  EXPECT_EQ(shown, "Hello!|It is a mark on the hull of a ship. [1]|Ships fly [2].|- It became law in 1876|");
  EXPECT_EQ(checked.supported, 2U);
  EXPECT_EQ(checked.unsupported, 1U);
}

TEST(CheckAnswer, WordsOfTheQuestionCountLess) {
  const std::string_view answer =
      "The famous old vessel painting thing shows how deep the ship may be loaded.";
  EXPECT_EQ(check(answer).unsupported, 1U);
  EXPECT_EQ(check(answer, {.question = "What is the famous old vessel painting thing?"}).supported, 1U);
}

TEST(CheckAnswer, ASimilarSentenceNeedsFewerWords) {
  const std::string_view answer = "It displays the depth to which a ship may be loaded.";
  EXPECT_EQ(check(answer).unsupported, 1U);
  GroundingOptions options;
  std::size_t calls = 0;
  options.similarity = [&](std::string_view, std::span<const std::string_view> others) {
    ++calls;
    return std::vector<float>(others.size(), 0.9F);
  };
  EXPECT_EQ(check(answer, options).supported, 1U);
  EXPECT_EQ(calls, 1U);
  // Numbers stay strict.
  EXPECT_EQ(check("It indicates the 12 ways a ship may be loaded.", options).unsupported, 1U);
}

TEST(CheckAnswer, WithoutPassagesNothingIsSupported) {
  const CheckedAnswer checked = check_answer("Paris is the capital of France. Hello!", {});
  EXPECT_EQ(checked.unsupported, 1U);
  EXPECT_EQ(checked.supported, 0U);
  EXPECT_TRUE(check_answer("", {}).sentences.empty());
}

TEST(Sentences, LineEndsInsideAParagraphAreBlanks) {
  const std::string_view text =
      "# Head\nOne two\nthree. Four\n\nFive:\n- six\n  seven\n- eight\n| a | b |\n| c | d |";
  std::string shown;
  for (const Span span : grounding::sentences_in(text))
    shown += std::string(text.substr(span.start, span.size())) + "|";
  EXPECT_EQ(shown, "# Head|One two\nthree.|Four|Five:|- six\n  seven|- eight|| a | b ||| c | d ||");
}

}  // namespace
}  // namespace plimsoll
