#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "conversation/extract_summary.hpp"
#include "conversation/turns_to_compress.hpp"

namespace plimsoll::conversation {
namespace {

// ---- Which turns ----

std::vector<TurnSize> even_turns(std::size_t count, Tokens tokens) {
  return std::vector<TurnSize>(count, TurnSize{tokens, false});
}

TEST(CompressBefore, LeavesHalfTheRoomFree) {
  // 1,000 of room: 500 in all, 250 of them for the summary, two turns of 100.
  EXPECT_EQ(compress_before(even_turns(12, 100), 1'000, 250), 10U);
  EXPECT_EQ(compress_before(even_turns(12, 100), 4'000, 250), 0U);
}

TEST(CompressBefore, NeverTakesTheLastTurns) {
  EXPECT_EQ(compress_before(even_turns(5, 1'000), 100, 48), 3U);
  EXPECT_EQ(compress_before(even_turns(2, 1'000), 100, 48), 0U);
  EXPECT_EQ(compress_before({}, 100, 48), 0U);
}

TEST(CompressBefore, StepsOverTurnsThatStayWhole) {
  auto turns = even_turns(8, 100);
  turns[0].whole = turns[3].whole = true;
  EXPECT_EQ(compress_before(turns, 1'200, 100), 5U);  // 800 and 100 are 300 too many: turns 1, 2 and 4
  for (TurnSize& turn : turns) turn.whole = true;
  EXPECT_EQ(compress_before(turns, 100, 100), 0U);
}

TEST(CompressBefore, FillsNoMoreThanItsShareWhereThatCanBeHad) {
  std::mt19937 rng{11};
  int compressed = 0;
  for (int round = 0; round < 5'000; ++round) {
    std::vector<TurnSize> turns(rng() % 40);
    for (TurnSize& turn : turns) turn = {static_cast<Tokens>(rng() % 500), rng() % 5 == 0};
    const Tokens room = static_cast<Tokens>(rng() % 8'000), summary = summary_limit(room);
    const CompressionRule rule;
    const std::size_t before = compress_before(turns, room, summary, rule);
    Tokens stays = summary, all = summary;
    for (std::size_t i = 0; i < turns.size(); ++i) {
      all += turns[i].tokens;
      if (i >= before || turns[i].whole) stays += turns[i].tokens;
    }
    ASSERT_LE(before, turns.size() - std::min(turns.size(), rule.last_turns));
    if (all <= room / 2) {
      ASSERT_EQ(before, 0U);
    }
    if (before == 0) continue;
    ++compressed;
    ASSERT_FALSE(turns[before - 1].whole);
    const bool enough = stays <= room * rule.fill_pct / 100;
    bool rest_is_whole = true;
    for (std::size_t i = before; i + rule.last_turns < turns.size(); ++i)
      rest_is_whole = rest_is_whole && turns[i].whole;
    ASSERT_TRUE(enough || rest_is_whole);
  }
  EXPECT_GT(compressed, 1'000);
}

TEST(HistoryRoom, IsWhatOthersLeaveAndAQuarterAtLeast) {
  EXPECT_EQ(history_room(4'096, 3'481, 800), 2'681);
  EXPECT_EQ(history_room(4'096, 3'481, 4'000), 1'024);
  EXPECT_EQ(summary_limit(2'681), 670);
  EXPECT_EQ(summary_limit(100), 48);
  EXPECT_EQ(summary_limit(1'000'000), 1'024);
}

// ---- The extract ----

std::vector<std::size_t> best(const std::vector<std::string>& texts, Tokens limit) {
  std::vector<SaidSentence> sentences;
  for (const std::string& text : texts)
    sentences.push_back({text, static_cast<Tokens>(text.size() / 4 + 1), true, false});
  return best_sentences(sentences, limit);
}

TEST(BestSentences, KeepNamesAndNumbersAndRepeatNothing) {
  const std::vector<std::string> texts{
      "Good morning to you, nice to see you here again.", "The locker of Marta Quell is number 4417.",
      "That is nice, really very nice of you.",           "The locker of Marta Quell is number 4417.",
      "The ship leaves Bergen on 3 May with 212 tons.",
  };
  EXPECT_EQ(best(texts, 30), (std::vector<std::size_t>{1, 4}));
}

TEST(BestSentences, PreferWhatAnEarlierSummaryKept) {
  std::vector<SaidSentence> sentences{{"The anchor weighs nine tons.", 7, false, false},
                                      {"The rudder counts seven hinges.", 7, false, true}};
  EXPECT_EQ(best_sentences(sentences, 8), (std::vector<std::size_t>{1}));
}

TEST(BestSentences, FitTheirLimitAndStandInOrder) {
  std::mt19937 rng{5};
  int chosen = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> texts(rng() % 60);
    for (std::string& text : texts)
      for (std::size_t words = rng() % 12; words-- > 0;) text += fmt::format("word{} ", rng() % 80);
    std::vector<SaidSentence> sentences;
    for (const std::string& text : texts)
      sentences.push_back({text, static_cast<Tokens>(rng() % 30), rng() % 2 == 0, rng() % 4 == 0});
    const Tokens limit = static_cast<Tokens>(rng() % 200);
    const auto indices = best_sentences(sentences, limit);
    Tokens sum = 0;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      sum += sentences[indices[i]].tokens;
      if (i > 0) {
        ASSERT_LT(indices[i - 1], indices[i]);
      }
    }
    ASSERT_LE(sum, limit);
    chosen += static_cast<int>(indices.size());
  }
  EXPECT_GT(chosen, 500);
}

TEST(BestSentences, ChooseNothingFromNothing) {
  EXPECT_TRUE(best_sentences({}, 100).empty());
  EXPECT_TRUE(best({"Nine tons.", "Ten tons."}, 0).empty());
}

}  // namespace
}  // namespace plimsoll::conversation
