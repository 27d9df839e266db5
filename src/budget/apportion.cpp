#include "budget/apportion.hpp"

#include <algorithm>
#include <cmath>

namespace plimsoll::budget {
namespace {

__extension__ using Wide = unsigned __int128;  // weight * served needs up to 102 bits

// Returns whether a's next token comes before b's.
bool comes_first(const Party& a, Tokens served_a, const Party& b, Tokens served_b) {
  return static_cast<Wide>(a.weight) * static_cast<Wide>(2 * served_b + 1) >
         static_cast<Wide>(b.weight) * static_cast<Wide>(2 * served_a + 1);
}

// Gives `total` more tokens.
void serve(Tokens total, std::span<const Party> parties, Tie tie, std::vector<Tokens>& served) {
  constexpr std::size_t nobody = static_cast<std::size_t>(-1);
  for (; total > 0; --total) {
    std::size_t next = nobody;
    for (std::size_t i = 0; i < parties.size(); ++i) {
      if (served[i] >= parties[i].cap || parties[i].weight <= 0) continue;
      const bool better =
          next == nobody || comes_first(parties[i], served[i], parties[next], served[next]) ||
          (tie == Tie::later && !comes_first(parties[next], served[next], parties[i], served[i]));
      if (better) next = i;
    }
    if (next == nobody) return;
    ++served[next];
  }
}

// Sets the tokens of each party after every claim with weight / (2k + 1) >= 1 / price is met, minus one, as
// floating point may be off by less than one. Never more than Webster's result if the sum is at most the
// total.
Tokens served_at(double price, std::span<const Party> parties, std::vector<Tokens>& served) {
  Tokens sum = 0;
  for (std::size_t i = 0; i < parties.size(); ++i) {
    const double level = std::floor((price * static_cast<double>(parties[i].weight) + 1) / 2);
    const Tokens cap = parties[i].weight > 0 ? parties[i].cap : 0;
    const Tokens met = level < static_cast<double>(cap) ? static_cast<Tokens>(level) : cap;
    served[i] = std::max<Tokens>(0, met - 1);
    sum += met;
  }
  return sum;
}

}  // namespace

std::vector<Tokens> apportion_slowly(Tokens total, std::span<const Party> parties, Tie tie) {
  std::vector<Tokens> served(parties.size(), 0);
  serve(total, parties, tie, served);
  return served;
}

// All claims above a price are met before any below it, so the claims met at a price whose sum does not
// exceed the total are part of the result (docs/budget.md). The best such price leaves a few tokens for the
// slow method.
std::vector<Tokens> apportion(Tokens total, std::span<const Party> parties, Tie tie) {
  std::vector<Tokens> served(parties.size(), 0);
  double weights = 0, largest = 0;
  for (const Party& party : parties) {
    if (party.weight <= 0 || party.cap <= 0) continue;
    weights += static_cast<double>(party.weight);
    largest = std::max(largest, (2 * static_cast<double>(party.cap) + 1) / static_cast<double>(party.weight));
  }
  if (weights <= 0 || total <= 0) return served;
  double low = 0, high = std::max(largest, 1.0);
  if (served_at(high, parties, served) <= total) {
    low = high;
  } else {
    for (int step = 0; step < 96; ++step) {
      const double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) break;
      (served_at(middle, parties, served) <= total ? low : high) = middle;
    }
  }
  served_at(low, parties, served);
  Tokens rest = total;
  for (const Tokens tokens : served) rest -= tokens;
  serve(rest, parties, tie, served);
  return served;
}

}  // namespace plimsoll::budget
