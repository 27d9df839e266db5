// Finds numbers in a text, in a form that can be compared: "1,000", "1000.0" and "1 thousand" are equal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/document.hpp"

namespace plimsoll::grounding {

struct Number {
  std::string value;         // "1000", "2.5", "1.2.3"
  std::string unit;          // "%", "$", "kg", "ms"; empty: none that is known
  Span span;                 // with its unit and scale
  bool is_word = false;      // "seven"
  bool is_citation = false;  // "[1]"

  // Whether it is the word "one", which is mostly not a number.
  bool is_pronoun() const { return is_word && value == "1"; }
  // Whether they may mean the same: equal values, and units that do not contradict.
  bool agrees_with(const Number& other) const {
    return value == other.value && (unit.empty() || other.unit.empty() || unit == other.unit);
  }
};

// Reads digits with separators, decimals, versions, percentages, currencies, units, "thousand" to "trillion",
// and the words zero to twelve. Digits inside a name ("x86", "gpt-4o") are not numbers.
std::vector<Number> numbers_in(std::string_view text);

}  // namespace plimsoll::grounding
