// Rule S7.
#include <array>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "plimsoll/strategy.hpp"
#include "strategy/words.hpp"

namespace plimsoll {
namespace {

using enum TaskType;

constexpr std::string_view crisis_signals[] = {
    "suicid", "kill myself", "end my life", "want to die",        "self-harm",
    "crisis", "emergency",   "988",         "don't want to live", "better off dead"};
constexpr std::string_view factual[] = {"what is",    "who is", "when did",  "where is",     "how many",
                                        "cite",       "source", "reference", "according to", "evidence",
                                        "fact check", "verify", "accurate",  "precise",      "research",
                                        "paper",      "study",  "arxiv"};
constexpr std::string_view creative[] = {
    "write a", "draft",  "story",     "poem",    "creative",       "brainstorm",       "idea",
    "imagine", "design", "translate", "rewrite", "summarize this", "review this code", "refactor"};
constexpr std::string_view analytical[] = {"analyze", "compare",  "evaluate",      "assess",
                                           "plan",    "strategy", "pros and cons", "trade-off",
                                           "explain", "describe", "how does",      "why does"};

TEST(Classify, KnowsEverySignalOfTheRule) {
  for (const auto signal : crisis_signals) {
    const Task task = classify(signal);
    EXPECT_EQ(task.type, rag_critical) << signal;
    EXPECT_TRUE(task.crisis) << signal;
    EXPECT_EQ(task.signal, signal);
  }
  const auto expect_all = [](std::span<const std::string_view> signals, TaskType type) {
    for (const auto signal : signals) {
      const Task task = classify(signal);
      EXPECT_EQ(task.type, type) << signal;
      EXPECT_FALSE(task.crisis) << signal;
      EXPECT_EQ(task.signal, signal);
    }
  };
  expect_all(factual, rag_critical);
  expect_all(creative, stuff_friendly);
  expect_all(analytical, hybrid);
  EXPECT_EQ(classify("Fix the tests, please").type, unknown);
  EXPECT_EQ(classify("").type, unknown);
  EXPECT_EQ(classify("").signal, "");
}

TEST(Classify, TakesTheFirstListThatMatchesWhereverItStands) {
  EXPECT_EQ(classify("Write a story and cite every source").type, rag_critical);
  EXPECT_EQ(classify("Compare two drafts").type, stuff_friendly);
  EXPECT_EQ(classify("Plan a trip").type, hybrid);
  EXPECT_TRUE(classify("Who is on call, there is an emergency").crisis);
}

TEST(Classify, TakesTheUsualEndings) {
  const std::pair<const char*, TaskType> cases[] = {
      {"three studies", rag_critical},
      {"he studied it", rag_critical},
      {"studying", rag_critical},
      {"verified", rag_critical},
      {"verifies", rag_critical},
      {"verifying", rag_critical},
      {"citing", rag_critical},
      {"cited", rag_critical},
      {"cites", rag_critical},
      {"sources", rag_critical},
      {"sourcing", rag_critical},
      {"accurately", rag_critical},
      {"precisely", rag_critical},
      {"fact-checking", rag_critical},
      {"researched", rag_critical},
      {"stories", stuff_friendly},
      {"ideas", stuff_friendly},
      {"translating", stuff_friendly},
      {"imagined", stuff_friendly},
      {"writing a letter", stuff_friendly},
      {"write an essay", stuff_friendly},
      {"Summarizing this", stuff_friendly},
      {"refactoring", stuff_friendly},
      {"analyzing", hybrid},
      {"assesses", hybrid},
      {"strategies", hybrid},
      {"trade-offs", hybrid},
      {"plans", hybrid},
      {"explained", hybrid},
      {"compared", hybrid},
      {"evaluating", hybrid},
  };
  for (const auto& [query, type] : cases) EXPECT_EQ(classify(query).type, type) << query;
}

TEST(Classify, DoesNotFindSignalsInsideOtherWords) {
  for (const char* query : {"the ideal gas", "an explanation",
                            "a planet",      "resource",
                            "outsourced",    "planes",
                            "drafty",        "storyteller",
                            "newspaper",     "papery",
                            "poetry",        "designer",
                            "researcher",    "accuracy",
                            "citation",      "analysis",
                            "analysed",      "planning",
                            "ideally",       "excited",
                            "recited",       "write as you like",
                            "write ad copy", "explainer",
                            "understudy",    "preference",
                            "whatever is",   "how manyfold"})
    EXPECT_EQ(classify(query).type, unknown) << query;
}

TEST(Classify, DoesNotMindCaseSpacesAndApostrophes) {
  EXPECT_EQ(classify("WHAT IS a load line?").type, rag_critical);
  EXPECT_EQ(classify("what\n  is it").type, rag_critical);
  EXPECT_EQ(classify("What.  Is").type, unknown) << "a full stop parts a phrase";
  EXPECT_EQ(classify("pros\u00A0and\u00A0cons").type, hybrid);
  EXPECT_EQ(classify("a trade\u2011off").type, hybrid) << "with a hyphen that does not break";
  EXPECT_EQ(classify("the story\u2019s end").type, stuff_friendly);
  EXPECT_EQ(classify("ＷＨＡＴ ＩＳ it").type, rag_critical) << "full-width letters";
  EXPECT_EQ(classify("请verify一下").type, rag_critical) << "among words that have no spaces";
  EXPECT_EQ(classify("design\xFF").type, stuff_friendly) << "beside a broken byte";
}

TEST(Classify, IsGenerousWithACrisis) {
  for (const char* query : {"suicidal thoughts",
                            "SUICIDE",
                            "Suicidality",
                            "I don\u2019t want to live",
                            "i dont want to live anymore",
                            "I do not want to live",
                            "don\u02BCt want to live",
                            "killing myself",
                            "kill my self",
                            "KILL... MYSELF",
                            "he wants to die",
                            "wanted to die",
                            "I wanna die",
                            "want to dieeee",
                            "self harm",
                            "selfharm",
                            "self-harming",
                            "self\u2010harm",
                            "crises",
                            "emergencies",
                            "call 988",
                            "988lifeline",
                            "ending my life",
                            "better off dead",
                            "better-off dead",
                            "sui\u00ADcide",
                            "ｓｕｉｃｉｄｅ",
                            "想suicide",
                            "suicide\xFF"}) {
    const Task task = classify(query);
    EXPECT_TRUE(task.crisis) << query;
    EXPECT_EQ(task.type, rag_critical) << query;
    EXPECT_FALSE(task.signal.empty()) << query;
  }
}

TEST(Classify, RaisesNoAlarmForWordsThatOnlyBeginAlike) {
  for (const char* query :
       {"I want to diet", "end my lifetime plan", "I don't want to livestream", "am I better off deadlifting",
        "the emergence of life", "criss-cross", "self-harness"})
    EXPECT_FALSE(classify(query).crisis) << query;
}

TEST(Words, AreFoldedAndKnowWhatJoinsThem) {
  const strategy::Words words("Don’t  STOP; re-read fact_store");
  ASSERT_EQ(words.size(), 7U);
  EXPECT_EQ(words[0], "don");
  EXPECT_EQ(words[1], "t");
  EXPECT_TRUE(words.joined(1));
  EXPECT_EQ(words[2], "stop");
  EXPECT_TRUE(words.joined(2));
  EXPECT_EQ(words[3], "re");
  EXPECT_FALSE(words.joined(3));
  EXPECT_TRUE(words.joined(4));
  EXPECT_EQ(words[5], "fact");
  EXPECT_TRUE(words.joined(6));
  EXPECT_FALSE(words.joined(0));
}

// Innocent words around a signal, in any case and with any spaces, change nothing; without one all is
// unknown.
TEST(Classify, FindsASignalAmongAnyWords) {
  constexpr std::string_view fillers[] = {"ship", "ideal",  "planet", "resource", "the",
                                          "of",   "anchor", "we",     "42",       "läuft"};
  constexpr std::string_view gaps[] = {" ", "  ", "\n", "\t", ", ", ". ", "! ", " – "};
  std::mt19937 rng{11};
  const auto pick = [&](const auto& list) { return list[rng() % std::size(list)]; };
  const auto noise = [&] {
    std::string text;
    for (std::size_t n = rng() % 6; n > 0; --n) {
      text += pick(fillers);
      text += pick(gaps);
    }
    return text;
  };
  int found[4] = {};
  for (int round = 0; round < 20'000; ++round) {
    const std::size_t which = rng() % 4;
    const std::string_view signal = which == 0   ? pick(crisis_signals)
                                    : which == 1 ? pick(factual)
                                    : which == 2 ? pick(creative)
                                                 : pick(analytical);
    std::string said(signal);
    if (rng() % 2 == 0) {
      for (char& c : said) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    const std::string before = noise();
    const std::string after = noise();
    const Task task = classify(before + said + std::string(pick(gaps)) + after);
    const TaskType expected = which < 2 ? rag_critical : which == 2 ? stuff_friendly : hybrid;
    ASSERT_EQ(task.type, expected) << before << said << after;
    ASSERT_EQ(task.crisis, which == 0) << before << said << after;
    ASSERT_EQ(classify(before + after).type, unknown) << before << after;
    ++found[which];
  }
  for (const int count : found) EXPECT_GT(count, 4000);
}

}  // namespace
}  // namespace plimsoll
