#include "conversation/turn_index.hpp"

#include <algorithm>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "conversation/recalled_turns.hpp"

namespace plimsoll::conversation {
namespace {

constexpr std::int64_t day_ms = std::int64_t{24} * 3600 * 1000;
constexpr std::int64_t now_ms = 19'458 * day_ms;  // 2023-04-11

Tokens words_in(std::string_view text) {
  return 1 + std::ranges::count(text, ' ');
}

// A conversation whose turns are about nothing in particular, with others put in.
struct Talk {
  std::vector<SaidTurn> turns;
  std::vector<std::string> texts;

  explicit Talk(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      texts.push_back(fmt::format("We looked at pump number {} and found it in order.", i));
      turns.push_back({i % 2 == 0, {}, now_ms - static_cast<std::int64_t>(count - i) * day_ms / 10, 0});
    }
  }
  void say(std::size_t at, std::string text) { texts[at] = std::move(text); }
  TurnIndex index() {
    TurnIndex out;
    for (std::size_t i = 0; i < turns.size(); ++i) {
      turns[i].text = texts[i];
      out.add(turns[i]);
    }
    return out;
  }
};

std::size_t best_of(const TurnIndex& index, std::string_view question) {
  const auto ranked = index.rank({question, now_ms, {}, {}});
  return ranked.empty() ? index.size() : ranked.front().turn;
}

TEST(TurnIndex, FindsATurnAmongThousandsByItsWords) {
  Talk talk(4'000);
  talk.say(22, "By the way, my sister Ingrid keeps bees in Tromso.");
  const TurnIndex index = talk.index();
  EXPECT_EQ(best_of(index, "Where does Ingrid keep her bees?"), 22U);
}

TEST(TurnIndex, PrefersTheUserUnlessTheQuestionIsAboutTheModel) {
  Talk talk(100);
  talk.say(10, "I painted the boat green and it took me three days.");
  talk.say(31, "The boat is green, so paint the mast green or white.");
  const TurnIndex index = talk.index();
  EXPECT_EQ(best_of(index, "Which colour is the boat, green?"), 10U);
  EXPECT_EQ(best_of(index, "Which colour did you recommend for the boat, green?"), 31U);
}

TEST(TurnIndex, PrefersTurnsOfTheDaysThatTheQuestionNames) {
  Talk talk(100);
  talk.say(10, "I bought a kettle today.");
  talk.say(90, "I bought a lamp today.");
  talk.turns[10].at_ms = now_ms - 30 * day_ms;
  talk.turns[90].at_ms = now_ms - 10 * day_ms;
  const TurnIndex index = talk.index();
  EXPECT_EQ(best_of(index, "What was bought 10 days ago?"), 90U);
  EXPECT_EQ(best_of(index, "What was bought a month ago?"), 10U);
}

TEST(TurnIndex, FindsByMeaningWhatSharesNoWord) {
  Talk talk(20);
  talk.say(4, "Our old tomcat sleeps on the sofa.");
  const TurnIndex index = talk.index();
  const std::vector<float> question{1, 0}, same{0.9F, 0.1F}, other{0, 1};
  std::vector<SentenceVectors> meanings(20);
  for (std::size_t i = 0; i < meanings.size(); i += 2) meanings[i] = packed_vectors(i == 4 ? same : other);
  const auto ranked = index.rank({"Which pet?", now_ms, packed_vectors(question), meanings});
  ASSERT_FALSE(ranked.empty());
  EXPECT_EQ(ranked.front().turn, 4U);
  EXPECT_TRUE(index.rank({"Which pet?", now_ms, {}, {}}).empty());
}

TEST(TurnIndex, RanksNothingThatHasNothingToDoWithTheQuestion) {
  Talk talk(50);
  EXPECT_TRUE(talk.index().rank({"Thanks!", now_ms, {}, {}}).empty());
  EXPECT_TRUE(TurnIndex().rank({"Anything?", now_ms, {}, {}}).empty());
}

TEST(TurnSentences, CoverATextWithoutSentencesInParts) {
  const std::string text(5'000, 'x');
  std::uint64_t end = 0;
  for (const Span& span : turn_sentences(text)) {
    EXPECT_EQ(span.start, end);
    EXPECT_LE(span.size(), 360U);
    end = span.end;
  }
  EXPECT_EQ(end, text.size());
}

TEST(RecalledTurns, TakeOfALongTurnWhatAnswersTheQuestion) {
  Talk talk(40);
  std::string answer;
  for (int i = 0; i < 100; ++i)
    answer +=
        i == 60 ? "The harbour master is called Oyvind. " : fmt::format("Rule {} of the port is strict. ", i);
  talk.say(11, answer);
  const TurnIndex index = talk.index();
  const auto ranked = index.rank({"What did you say the harbour master is called?", now_ms, {}, {}});
  const auto chosen =
      choose_turns(index, ranked, 150, [](std::size_t, std::string_view part) { return words_in(part); });
  const auto found = std::ranges::find(chosen, std::size_t{11}, &RecalledPart::turn);
  ASSERT_NE(found, chosen.end());
  EXPECT_FALSE(found->is_whole);
  EXPECT_GE(found->tokens, 80);
  EXPECT_NE(answer.substr(found->part.start, found->part.size()).find("Oyvind"), std::string::npos);
}

TEST(RecalledTurns, NeverExceedTheBudgetAndAreInOrder) {
  std::mt19937 rng{11};
  std::size_t taken = 0, cut = 0;
  for (int round = 0; round < 300; ++round) {
    Talk talk(1 + rng() % 40);
    for (std::string& text : talk.texts) {
      text.clear();
      for (std::size_t words = rng() % 400; words > 0; --words)
        text += fmt::format("word{}{} ", rng() % 50,
                            rng() % 9 == 0    ? "."
                            : rng() % 30 == 0 ? "\n\xC3\xA9"
                                              : "");
    }
    const TurnIndex index = talk.index();
    const auto budget = static_cast<Tokens>(rng() % 600);
    const auto ranked = index.rank({"word1 word2 word3 word4", now_ms, {}, {}});
    EXPECT_TRUE(std::ranges::is_sorted(ranked, std::greater<>(), &RankedTurn::score));
    const auto chosen = choose_turns(index, ranked, budget,
                                     [](std::size_t, std::string_view part) { return words_in(part) + 4; });
    Tokens sum = 0;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const RecalledPart& one = chosen[i];
      if (i > 0) {
        EXPECT_LT(chosen[i - 1].turn, one.turn);
      }
      const std::string_view text = index.turn(one.turn).text;
      ASSERT_LE(one.part.end, text.size());
      EXPECT_EQ(one.tokens, words_in(text.substr(one.part.start, one.part.size())) + 4);
      sum += one.tokens;
      ++taken;
      cut += one.is_whole ? 0 : 1;
    }
    EXPECT_LE(sum, budget);
  }
  EXPECT_GT(taken, 300U);
  EXPECT_GT(cut, 50U);
}

}  // namespace
}  // namespace plimsoll::conversation
