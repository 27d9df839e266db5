#include <gtest/gtest.h>

#include "plimsoll/budget.hpp"

namespace plimsoll::budget {
namespace {

constexpr Fate kept = Fate::kept, no_room = Fate::no_room, too_old = Fate::too_old,
               over_limit = Fate::over_limit;

// A question of 100, a margin of 50, an answer of 200 to 300, and what the test adds.
Load with(std::vector<Section> sections) {
  Load load;
  load.sections = std::move(sections);
  load.sections.push_back({.kind = SectionKind::question, .basis = 100, .min = 100, .max = 100});
  load.sections.push_back(
      {.kind = SectionKind::answer, .basis = 300, .min = 200, .max = 300, .shrink = heaviest});
  load.sections.push_back({.kind = SectionKind::margin, .basis = 50, .min = 50, .max = 50});
  return load;
}

Section of_pieces(SectionKind kind, Tokens tokens, std::int64_t grow = 0) {
  return {.kind = kind, .basis = tokens, .min = 0, .max = tokens, .grow = grow, .shrink = 1};
}

TEST(Fill, TakesPassagesByValueAndSkipsWhatIsTooLarge) {
  Load load = with({of_pieces(SectionKind::context, 900)});
  load.passages = {{300, 0.1}, {400, 0.9}, {200, 0.5}};
  const auto placement = fill(950, load);  // 400 for context once the answer is at its least
  ASSERT_TRUE(placement) << placement.error().what;
  EXPECT_EQ(placement->passages, (std::vector<Fate>{no_room, kept, kept}));
  EXPECT_EQ(placement->used, (std::vector<Tokens>{600, 100, 200, 50}));
  EXPECT_EQ(placement->left, 0);
}

TEST(Fill, OffersWhatOnePartyCannotFillToAnother) {
  Load load = with({of_pieces(SectionKind::memory, 90), of_pieces(SectionKind::context, 500)});
  load.facts = {{90, 1}};
  load.passages = {{100, 3}, {200, 2}, {200, 1}};
  const auto placement = fill(350 + 450, load);  // memory's part of 450 is less than its one fact
  ASSERT_TRUE(placement) << placement.error().what;
  EXPECT_EQ(placement->facts, (std::vector<Fate>{kept}));
  EXPECT_EQ(placement->passages, (std::vector<Fate>{kept, kept, no_room}));
  EXPECT_EQ(placement->used, (std::vector<Tokens>{90, 300, 100, 260, 50}));
  for (std::size_t i = 0; i < placement->used.size(); ++i)
    EXPECT_LE(placement->used[i], placement->grants[i]);
}

TEST(Fill, GivesTheAnswerBackWhatItHadGivenUp) {
  Load load = with({of_pieces(SectionKind::context, 500)});
  load.passages = {{500, 1}};
  const auto placement = fill(800, load);
  ASSERT_TRUE(placement) << placement.error().what;
  EXPECT_EQ(placement->passages, (std::vector<Fate>{no_room}));
  EXPECT_EQ(placement->used, (std::vector<Tokens>{0, 100, 300, 50}));
  EXPECT_EQ(placement->left, 350);
}

TEST(Fill, CutsHistoryFromTheOldEnd) {
  Load load = with({of_pieces(SectionKind::history, 600)});
  load.turns = {{100}, {200}, {100}, {100}, {100}};
  const auto placement = fill(350 + 344, load);
  ASSERT_TRUE(placement) << placement.error().what;
  EXPECT_EQ(placement->turns, (std::vector<Fate>{too_old, too_old, kept, kept, kept}));
}

TEST(Fill, TakesWhatStandsAroundPassagesWithTheFirstOne) {
  Load load = with({of_pieces(SectionKind::context, 230)});
  load.passages = {{100, 2}, {100, 1}};
  load.passages_frame = 30;
  const auto both = fill(580 + 100, load);
  ASSERT_TRUE(both) << both.error().what;
  EXPECT_EQ(both->used[0], 230);
  const auto one = fill(350 + 229, load);
  ASSERT_TRUE(one) << one.error().what;
  EXPECT_EQ(one->passages, (std::vector<Fate>{kept, no_room}));
  EXPECT_EQ(one->used[0], 130);
  const auto none = fill(350 + 129, load);
  ASSERT_TRUE(none) << none.error().what;
  EXPECT_EQ(none->used[0], 0);
}

TEST(Fill, HonoursLimitsOfTurnsAndPassages) {
  Load load = with({of_pieces(SectionKind::history, 30), of_pieces(SectionKind::context, 30)});
  load.turns = {{10}, {10}, {10}};
  load.passages = {{10, 1}, {10, 3}, {10, 2}};
  load.most_turns = 2;
  load.most_passages = 1;
  const auto placement = fill(10'000, load);
  ASSERT_TRUE(placement) << placement.error().what;
  EXPECT_EQ(placement->turns, (std::vector<Fate>{over_limit, kept, kept}));
  EXPECT_EQ(placement->passages, (std::vector<Fate>{over_limit, kept, over_limit}));
}

TEST(Fill, TakesValuesThatAreNoNumbersLast) {
  Load load = with({of_pieces(SectionKind::context, 20)});
  load.passages = {{10, std::nan("")}, {10, -5}, {10, std::nan("")}};
  load.most_passages = 1;
  const auto placement = fill(10'000, load);
  ASSERT_TRUE(placement) << placement.error().what;
  EXPECT_EQ(placement->passages, (std::vector<Fate>{over_limit, kept, over_limit}));
}

TEST(FirstTurnKept, KeepsAllThatFit) {
  const std::vector<Piece> turns(10, Piece{100});
  EXPECT_EQ(first_turn_kept(turns, 1000), 0U);
  EXPECT_EQ(first_turn_kept(turns, 0), 10U);
  EXPECT_EQ(first_turn_kept({}, 0), 0U);
}

TEST(FirstTurnKept, KeepsTheLastTurnWhereItFitsAtAll) {
  const Piece turns[] = {{5000}, {1000}};
  EXPECT_EQ(first_turn_kept(turns, 1000), 1U);
  EXPECT_EQ(first_turn_kept(turns, 999), 2U);
}

TEST(FirstTurnKept, DoesNotGiveUpALongTurnForAStep) {
  const Piece turns[] = {{92}, {92}, {92}, {92}, {92}, {3'800}, {92}};
  EXPECT_EQ(first_turn_kept(turns, 4'341), 1U);  // 11 too many: one short turn goes
}

TEST(FirstTurnKept, MovesSeldomAsAConversationGrows) {
  std::vector<Piece> turns;
  std::size_t before = 0;
  int moved = 0, cut = 0;
  for (int turn = 0; turn < 400; ++turn) {
    turns.push_back({60 + turn * 7 % 90});
    const Tokens grant = 3000 - turn * 13 % 60;  // questions of different lengths
    const std::size_t first = first_turn_kept(turns, grant);
    Tokens rest = 0;
    for (std::size_t i = first; i < turns.size(); ++i) rest += turns[i].tokens;
    ASSERT_LE(rest, grant);
    ASSERT_GE(first, before);
    cut += first > 0 ? 1 : 0;
    moved += first != before ? 1 : 0;
    before = first;
  }
  EXPECT_GT(cut, 350);
  EXPECT_LT(moved, 400 / 4);  // three of four turns find the prefix as it was
}

TEST(ShadowPrice, SaysWhichPiecesWouldComeOrGo) {
  Load load = with({of_pieces(SectionKind::context, 900)});
  load.passages = {{300, 3}, {300, 2}, {300, 1}};
  const auto now = fill(1050, load);
  ASSERT_TRUE(now);
  ASSERT_EQ(now->passages, (std::vector<Fate>{kept, kept, no_room}));
  const ShadowPrice more = shadow_price(load, *now, 1550, load);
  EXPECT_TRUE(more.fits);
  EXPECT_EQ(more.added.passages, (std::vector<std::size_t>{2}));
  EXPECT_TRUE(more.gone.passages.empty());
  const ShadowPrice fewer = shadow_price(load, *now, 550, load);
  EXPECT_EQ(fewer.gone.passages, (std::vector<std::size_t>{0, 1}));
  EXPECT_FALSE(shadow_price(load, *now, 250, load).fits);
}

TEST(ShadowPrice, TellsWhatComesFromWhatGoes) {
  Load load = with({of_pieces(SectionKind::context, 900)});
  load.passages = {{500, 3}, {200, 2}, {200, 1}};
  const auto now = fill(350 + 400, load);  // the large one does not fit
  ASSERT_TRUE(now);
  ASSERT_EQ(now->passages, (std::vector<Fate>{no_room, kept, kept}));
  const ShadowPrice more = shadow_price(load, *now, 350 + 550, load);
  EXPECT_EQ(more.added.passages, (std::vector<std::size_t>{0}));
  EXPECT_EQ(more.gone.passages, (std::vector<std::size_t>{1, 2}));
}

}  // namespace
}  // namespace plimsoll::budget
