// Pre-tokenisation by any sequence of regular expressions, like Hugging Face's Split steps.
// Slower than scan.hpp; for expressions that are not implemented there,
// and to test those that are.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/result.hpp"

namespace plimsoll::count {

struct SplitStep {
  std::string pattern;
  // isolated: each match is a piece, and so is the text between two. removed: matches are dropped.
  // The merged ones add each match to the previous or the next piece.
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
  // bad_input: PCRE2 rejects a pattern.
  static Result<std::shared_ptr<const RegexSplitter>> make(const std::vector<SplitStep>& steps);
  virtual ~RegexSplitter() = default;

  // Returns the ends of the pieces, ascending; the last is the text's size. Invalid UTF-8 is split into
  // bytes.
  virtual std::vector<std::size_t> split(std::string_view text) const = 0;
};

}  // namespace plimsoll::count
