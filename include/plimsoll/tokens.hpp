// The unit of all measurements, and how exact a measurement is.
#pragma once

#include <cstdint>
#include <string_view>

namespace plimsoll {

// Signed: a deficit is a negative number. Tokens of two different tokenizers are never added.
using Tokens = std::int64_t;
using TokenId = std::uint32_t;

enum class Exactness : std::uint8_t {
  exact,       // counted with the model's own tokenizer and template
  calibrated,  // from a rule or ratio fitted to a server's reports
  estimated,   // estimated; the plan keeps a larger margin
};

// "exact", "calibrated", "estimated".
std::string_view name_of(Exactness exactness);

// Returns the less exact of the two: a sum is as exact as its worst part.
constexpr Exactness worse(Exactness a, Exactness b) {
  return a < b ? b : a;
}

}  // namespace plimsoll
