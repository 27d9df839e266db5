// Pre-tokenisation by any sequence of regular expressions, as Hugging Face's Split steps have it.
// Slow beside scan.hpp; for definitions whose expressions are not among those written out there,
// and as the oracle of those that are.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/result.hpp"

namespace plimsoll::count {

struct SplitStep {
  std::string pattern;
  // isolated: each match is a piece, and so is what lies between two. removed: matches vanish.
  // The merged ones give each match to the piece before it, or to the one after it.
  enum class Behaviour : std::uint8_t {
    isolated,
    merged_with_previous,
    merged_with_next,
    contiguous
  } behaviour = Behaviour::isolated;
  bool invert = false;
};

class RegexSplitter {
 public:
  // bad_input where PCRE2 does not take a pattern.
  static Result<std::shared_ptr<const RegexSplitter>> make(const std::vector<SplitStep>& steps);
  virtual ~RegexSplitter() = default;

  // Ends of the pieces, ascending; the last one is the text's size. Invalid UTF-8 is cut byte by byte.
  virtual std::vector<std::size_t> split(std::string_view text) const = 0;
};

}  // namespace plimsoll::count
