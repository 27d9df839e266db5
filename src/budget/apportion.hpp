// Divides whole tokens by weight: Webster's method of highest averages, with a cap for each party.
#pragma once

#include <span>
#include <vector>

#include "plimsoll/tokens.hpp"

namespace plimsoll::budget {

struct Party {
  std::int64_t weight = 0;  // 0: gets nothing
  Tokens cap = 0;
};

// Which of two parties with equal claims is served first.
enum class Tie : std::uint8_t { earlier, later };

// Serves `total` tokens one by one, each to the party with the highest weight / (2 * served + 1) that is
// below its cap; stops when all parties have reached theirs. A larger total never lowers a party's share.
//
// The time depends on the number of parties, not of tokens; apportion_slowly is the direct implementation.
std::vector<Tokens> apportion(Tokens total, std::span<const Party> parties, Tie tie);
std::vector<Tokens> apportion_slowly(Tokens total, std::span<const Party> parties, Tie tie);

}  // namespace plimsoll::budget
