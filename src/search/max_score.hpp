// Finds the top k of one segment without reading all of it: block-max MaxScore, window by window.
//
// A window is a few thousand adjacent places. Each term's blocks give an upper bound of its contribution
// there. Terms that cannot lift a chunk over the bar even together are skipped; the postings of the others
// are added up in an array with one sum per place; the skipped terms are looked up only for places that could
// still exceed the bar. A window whose bounds stay below the bar is not read. The worst case costs as much as
// reading everything.
#pragma once

#include <span>

#include "search/best_hits.hpp"
#include "search/bm25.hpp"
#include "search/lexical.hpp"

namespace plimsoll::search {

struct Location {
  std::uint32_t part = 0;
  Place place = 0;
  auto operator<=>(const Location&) const = default;
};
using BestChunks = BestHits<Units, Location>;

struct WeighedTerm {
  Term term;
  float weight = 0;  // in units
};

// `slack`: factor for block weights, because the average length may have grown since.
void search_part(const LivingPart& part, std::uint32_t number, std::span<const WeighedTerm> terms,
                 const Shares& shares, float slack, const Bits* allowed, BestChunks& best);

void search_part_reading_all(const LivingPart& part, std::uint32_t number, std::span<const WeighedTerm> terms,
                             const Shares& shares, const Bits* allowed, BestChunks& best);

}  // namespace plimsoll::search
