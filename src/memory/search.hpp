// Facts by their words and by their meaning.
//
// An owner's facts are few, and looked through one by one: there is no index that could keep words of a fact
// that was forgotten.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/memory.hpp"

namespace plimsoll::memory {

struct HeldFact {
  Fact fact;
  FactVector vector;
};

struct SearchedFact {
  std::size_t fact = 0;  // its place among those that were searched
  double score = 0;      // 0 to 1
  bool by_words = false, by_meaning = false;
};

// What cosine two texts have at least that have to do with each other.
inline constexpr double related_cosine = 0.25;

// Places of those that share words with the query, the best first (BM25).
std::vector<std::size_t> rank_by_words(std::string_view query, std::span<const HeldFact> facts);
// Of those with a vector of the same embedder that are near enough, the nearest first.
std::vector<std::size_t> rank_by_meaning(const FactVector& query, std::span<const HeldFact> facts);

// Reciprocal ranks, added up: the best of both rankings first; then, where all are wanted, those of neither
// by their importance, the newest first.
std::vector<SearchedFact> fuse(std::span<const std::size_t> by_words, std::span<const std::size_t> by_meaning,
                               std::span<const HeldFact> facts, bool all);

}  // namespace plimsoll::memory
