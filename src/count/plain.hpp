// Byte pair encoding as its definition reads: of all neighbours that merge, merge the earliest rule's
// leftmost, and look again. Quadratic; the oracle of bpe.hpp and the tool that compiling uses.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "count/vocabulary/definition.hpp"

namespace plimsoll::count {

class PlainMerger {
 public:
  explicit PlainMerger(const Definition& definition);

  struct Merge {
    std::uint32_t priority;  // lower goes first
    std::uint32_t result;    // index into Definition::tokens
  };

  // Indexes into Definition::tokens of what the text merges into; what the vocabulary lacks is `absent`.
  std::vector<std::uint32_t> merge(std::string_view text) const;
  // The two that were merged last on the way to a single token; {absent, absent} where there are none.
  std::vector<std::uint32_t> merge(std::string_view text,
                                   std::pair<std::uint32_t, std::uint32_t>& last) const;

  static constexpr std::uint32_t absent = 0xffffffff;
  const std::unordered_map<std::uint64_t, Merge>& merges() const { return merges_; }
  std::uint32_t find(std::string_view text) const;

 private:
  const Definition& definition_;
  std::unordered_map<std::string_view, std::uint32_t> by_text_;
  std::unordered_map<std::uint64_t, Merge> merges_;
};

}  // namespace plimsoll::count
