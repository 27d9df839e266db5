// The unit that everything is measured in, and how sure a measurement is.
#pragma once

#include <cstdint>
#include <string_view>

namespace plimsoll {

// Signed: a deficit is a negative number. Tokens of two different tokenizers are never added.
using Tokens = std::int64_t;
using TokenId = std::uint32_t;

enum class Exactness : std::uint8_t {
  exact,       // what the model's own tokenizer and template make of it
  calibrated,  // from a rule or ratio that was fitted to what a server reported
  estimated,   // a guess; the plan keeps a larger margin
};

// "exact", "calibrated", "estimated".
std::string_view name_of(Exactness exactness);

// The less sure of the two: a sum is as exact as its worst part.
constexpr Exactness worse(Exactness a, Exactness b) {
  return a < b ? b : a;
}

}  // namespace plimsoll
