// Chooses what of the ranked turns goes into a budget of tokens: short turns whole, of long ones the
// sentences around the place that answers the question, so that more turns fit.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "conversation/turn_index.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll::conversation {

struct RecalledPart {
  std::size_t turn = 0;  // index into the TurnIndex
  Span part;             // of the turn's text
  Tokens tokens = 0;     // with its label
  bool is_whole = true;

  bool operator==(const RecalledPart&) const = default;
};

// Returns the tokens of this part of a turn as it is sent, label included.
using CountPart = std::function<Tokens(std::size_t turn, std::string_view part)>;

// In the order of the turns. The tokens add up to at most `budget`. `whole`: also long turns are not cut.
std::vector<RecalledPart> choose_turns(const TurnIndex& index, std::span<const RankedTurn> ranked,
                                       Tokens budget, const CountPart& count, bool whole = false);

}  // namespace plimsoll::conversation
