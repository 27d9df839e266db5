// Searches facts by keywords and by vectors.
//
// An owner has few facts, which are scanned one by one: no index could keep the text of a deleted
// fact.
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
  std::size_t fact = 0;  // index into the searched facts
  double score = 0;      // 0 to 1
  bool by_words = false, by_meaning = false;
};

// Lowest cosine of two related texts.
inline constexpr double related_cosine = 0.25;

// Returns the indices of facts that share words with the query, best first (BM25).
std::vector<std::size_t> rank_by_words(std::string_view query, std::span<const HeldFact> facts);
// Returns the indices of near facts with a vector of the same embedder, nearest first.
std::vector<std::size_t> rank_by_meaning(const FactVector& query, std::span<const HeldFact> facts);

// Adds up reciprocal ranks: the best of both rankings first; then, if all are wanted, the others by
// importance, newest first.
std::vector<SearchedFact> fuse(std::span<const std::size_t> by_words, std::span<const std::size_t> by_meaning,
                               std::span<const HeldFact> facts, bool all);

}  // namespace plimsoll::memory
