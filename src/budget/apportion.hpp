// Whole tokens shared out by weight: Webster's method of highest averages, with a cap for each party.
#pragma once

#include <span>
#include <vector>

#include "plimsoll/tokens.hpp"

namespace plimsoll::budget {

struct Party {
  std::int64_t weight = 0;  // 0: takes nothing
  Tokens cap = 0;
};

// Which of two parties with equal claims is served first.
enum class Tie : std::uint8_t { earlier, later };

// Serves `total` tokens one by one, each to the party with the highest weight / (2 * served + 1) that is
// below its cap; stops when all are. One token more never takes one from anybody.
//
// Takes time for the parties, not for the tokens; apportion_slowly does what the sentence above says.
std::vector<Tokens> apportion(Tokens total, std::span<const Party> parties, Tie tie);
std::vector<Tokens> apportion_slowly(Tokens total, std::span<const Party> parties, Tie tie);

}  // namespace plimsoll::budget
