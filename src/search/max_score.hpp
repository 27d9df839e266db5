// Top k over one segment without reading all of it: block-max MaxScore, window by window.
//
// A window is some thousand neighbouring places. Each term's blocks say the most that it can give there.
// Terms that even together cannot lift a chunk over the bar are left aside; the others' postings are added up
// in a row of sums, one for each place; and only for those that the rest could still lift are the terms left
// aside looked up. A window in which all terms together stay below the bar is not read at all. Costs at worst
// what reading all costs.
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

// `slack`: what a block's weight may have to be multiplied by, because the average length has grown since.
void search_part(const LivingPart& part, std::uint32_t number, std::span<const WeighedTerm> terms,
                 const Shares& shares, float slack, const Bits* allowed, BestChunks& best);

void search_part_reading_all(const LivingPart& part, std::uint32_t number, std::span<const WeighedTerm> terms,
                             const Shares& shares, const Bits* allowed, BestChunks& best);

}  // namespace plimsoll::search
