// Finds added tokens in a text: special ones such as <|im_start|> if they are parsed, and those
// that a definition always matches before splitting.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "count/vocabulary/compiled.hpp"
#include "count/vocabulary/double_array.hpp"
#include "plimsoll/count.hpp"

namespace plimsoll::count {

struct AddedMatch {
  std::size_t begin, end;  // of the match, including stripped white space
  std::uint32_t index;     // into Compiled::added
};

class AddedFinder {
 public:
  AddedFinder() = default;
  explicit AddedFinder(const Compiled& compiled);

  // Returns whether nothing can be found with this policy.
  bool idle(Specials specials) const { return first_count_[slot(specials)] == 0; }

  // Returns the leftmost match at or after `from`, the longest of those at the same start. begin ==
  // text.size(): none.
  AddedMatch find(std::string_view text, std::size_t from, Specials specials) const;

  // Returns the bytes at the end of an open text where a match could still start or grow.
  std::size_t undecided_tail(Specials specials) const { return idle(specials) ? 0 : longest_; }

 private:
  static std::size_t slot(Specials specials) { return specials == Specials::parsed ? 1 : 0; }
  bool wanted(std::uint32_t index, Specials specials) const {
    return specials == Specials::parsed || !compiled_->added[index].special;
  }

  const Compiled* compiled_ = nullptr;
  Trie trie_;
  std::array<std::array<bool, 256>, 2> first_{};
  std::array<int, 2> first_count_{};
  std::array<char, 2> only_first_{};
  std::size_t longest_ = 0;
};

}  // namespace plimsoll::count
