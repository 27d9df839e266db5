#include "retrieve/question_parts.hpp"

#include <gtest/gtest.h>

namespace plimsoll::retrieve {
namespace {

std::vector<std::string> texts(std::string_view question) {
  std::vector<std::string> out;
  for (const QuestionPart& part : parts_of(question)) out.push_back(part.text);
  return out;
}
using Texts = std::vector<std::string>;

TEST(QuestionParts, SentencesAndClausesThatAskArePartsOfTheirOwn) {
  EXPECT_EQ(texts("Who built the pier? When was the lighthouse lit?"),
            (Texts{"Who built the pier?", "When was the lighthouse lit?"}));
  EXPECT_EQ(texts("What is a halyard, and how is it made fast?"),
            (Texts{"What is a halyard", "how is it made fast?"}));
  EXPECT_EQ(texts("What does npm prune remove and how does pip uninstall differ?"),
            (Texts{"What does npm prune remove", "how does pip uninstall differ?"}));
  EXPECT_EQ(texts("Explain the tide tables; what do the letters mean?"),
            (Texts{"Explain the tide tables", "what do the letters mean?"}));
  EXPECT_EQ(texts("1. Who keeps the log?\n2) Where are charts stored?\n- Why is the bell rung?"),
            (Texts{"Who keeps the log?", "Where are charts stored?", "Why is the bell rung?"}));
  EXPECT_EQ(texts("Wer baute die Mole, und wann wurde der Leuchtturm angezündet?"),
            (Texts{"Wer baute die Mole", "wann wurde der Leuchtturm angezündet?"}));
  EXPECT_EQ(texts("灯台はどこですか？桟橋は誰が建てましたか？").size(), 2U);
}

TEST(QuestionParts, OneQuestionStaysAsItIs) {
  for (const char* whole :
       {"What is a halyard?", "Which film stars the actor who was born in Turku and who died in Oslo?",
        "Where was the ship built and launched?", "What is the difference between rum and gin?",
        "Who wrote the novel that is set in Hull and which was filmed twice?", "The ship sails on Monday.",
        "", "Summarize this", "What did the court decide in Roe v. Wade about pier 3?",
        "Who has more shops? The bakery or the butcher?", "She sailed to Hull, and was based on which pier?",
        "Who built the pier, and whose brother sold it?", "Ann is married to a sailor and what kind of cook?",
        "Which ship was lost in 1820, and was used as a model?",
        "What happened in the year when he was born and where he grew up?"}) {
    EXPECT_EQ(texts(whole), Texts{whole});
    EXPECT_EQ(parts_of(whole)[0].dependence, 0);
  }
  const std::string pasted = "What is wrong here? " + std::string(3'000, 'x') + " Why?";
  EXPECT_EQ(texts(pasted), Texts{pasted});
}

TEST(QuestionParts, WhatIsSaidBelongsToTheQuestionThatFollows) {
  EXPECT_EQ(texts("Our pier is made of oak. Which paint lasts longest? Who sells tar?"),
            (Texts{"Our pier is made of oak. Which paint lasts longest?", "Who sells tar?"}));
  EXPECT_EQ(texts("Tell me more. What is a halyard? And why?"),
            Texts{"Tell me more. What is a halyard? And why?"});
}

TEST(QuestionParts, APartThatNamesNoSubjectDependsOnTheOthers) {
  const auto parts = parts_of("What is a halyard, and how is it made fast?");
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].dependence, 0);
  EXPECT_GT(parts[1].dependence, 0);
  EXPECT_EQ(parts_of("Who built the stone pier? When was the new lighthouse lit?")[1].dependence, 0);
}

TEST(QuestionParts, ThereAreAtMostSix) {
  std::string many;
  for (int i = 0; i < 9; ++i) many += "Who built pier number " + std::to_string(i) + "? ";
  EXPECT_EQ(texts(many).size(), most_parts);
}

TEST(Dependence, AQuestionThatNamesItsSubjectNeedsNoContext) {
  for (const char* complete :
       {"What does npm prune do?", "How many days of annual leave do I get?", "When is the invoice due?"})
    EXPECT_EQ(dependence_of(complete), 0) << complete;
}

TEST(Dependence, AQuestionThatNamesNothingDependsOnAllThatWasSaid) {
  for (const char* open :
       {"Give me an example", "Why?", "Tell me more about it.", "And then?", "Show another one"})
    EXPECT_EQ(dependence_of(open), 1) << open;
}

TEST(Dependence, APronounOrASingleWordDependsInPart) {
  for (const char* part : {"How long does it take?", "And the timeout?", "Does that work on Windows?"}) {
    EXPECT_GT(dependence_of(part), 0) << part;
    EXPECT_LT(dependence_of(part), 1) << part;
  }
}

TEST(QuestionParts, WordsOfTheFormNameNoSubject) {
  for (const char* word : {"it", "example", "more", "second", "one"})
    EXPECT_FALSE(names_subject(word)) << word;
  for (const char* word : {"prune", "seconds", "pier"}) EXPECT_TRUE(names_subject(word)) << word;
  EXPECT_EQ(dependence_of("And for the second one?"), 1);
  EXPECT_EQ(dependence_of("Give me an example"), 1);
  EXPECT_EQ(dependence_of("How is the second pier built?"), 0);
  EXPECT_LT(dependence_of("What is a list?"), 1);
}

}  // namespace
}  // namespace plimsoll::retrieve
