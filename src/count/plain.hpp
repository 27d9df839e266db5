// Byte pair encoding by its definition: repeatedly merges the leftmost pair of the earliest rule.
// Quadratic; used to test bpe.hpp and to compile tokenizers.
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

  // Returns the result of merging as indexes into Definition::tokens; unknown text is `absent`.
  std::vector<std::uint32_t> merge(std::string_view text) const;
  // Also returns the last two merged parts of a single token; {absent, absent}: none.
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
