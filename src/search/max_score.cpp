#include "search/max_score.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace plimsoll::search {

namespace {

// The sums of a window fit into the L1 cache, and a window covers several blocks of a common term.
constexpr Place window_places = 4096;
// A mark is written without reading, so close places do not wait for each other.
constexpr std::size_t marked_together = 128;

// Returns a bit mask of the sixteen sums above `least`.
std::uint32_t those_above(const Units* sums, Units least) {
#if defined(__SSE2__)
  // Sums are below 2^31, so a signed comparison is correct.
  const __m128i bar = _mm_set1_epi32(static_cast<int>(least));
  const auto above = [&](std::size_t i) {
    return _mm_cmpgt_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(sums + i)), bar);
  };
  return static_cast<std::uint32_t>(_mm_movemask_epi8(
      _mm_packs_epi16(_mm_packs_epi32(above(0), above(4)), _mm_packs_epi32(above(8), above(12)))));
#else
  std::uint32_t bits = 0;
  for (std::uint32_t i = 0; i < 16; ++i) bits |= static_cast<std::uint32_t>(sums[i] > least) << i;
  return bits;
#endif
}

class Cursor {
 public:
  Cursor(const WeighedTerm& weighed, float slack)
      : term_(weighed.term), weight_(weighed.weight), block_bound_(weighed.weight * slack / 65'535.0F) {}

  // Returns an upper bound for all places in [low, high). Windows must ascend.
  Units bound(Place low, Place high) {
    while (block_ < term_.blocks.size() && term_.blocks[block_].last < low) ++block_;
    std::uint16_t most = 0;
    for (std::size_t i = block_; i < term_.blocks.size(); ++i) {
      most = std::max(most, term_.blocks[i].weight);
      if (term_.blocks[i].last >= high - 1) break;
    }
    // Rounded up twice, so no posting can exceed it.
    return most == 0
               ? 0
               : static_cast<Units>(std::min(static_cast<float>(most) * block_bound_ * 1.00001F, weight_)) +
                     2;
  }

  // Returns an upper bound of postings, starting where the last window ended.
  std::size_t postings_in(Place low, Place high) const {
    std::size_t blocks = 0;
    for (std::size_t i = block_; i < term_.blocks.size(); ++i) {
      if (term_.blocks[i].last >= low) ++blocks;
      if (term_.blocks[i].last >= high - 1) break;
    }
    return blocks * block_postings;
  }

  // Adds the term's contribution to each place of the window and marks the places.
  void add_window(Place low, Place high, std::span<const Length> lengths, const Shares& shares, Units* sums,
                  std::uint8_t* marks) {
    for (; block_ < term_.blocks.size(); ++block_) {
      load(block_);
      read_counts();
      std::size_t i = first_from(low);
      for (; i < decoded_.size && decoded_.places[i] < high; ++i) {
        const Place place = decoded_.places[i];
        const Place at = place - low;
        sums[at] += units_of(weight_, shares.at(decoded_.counts[i] + 1, lengths[place]));
        marks[at / marked_together] = 1;
      }
      if (i < decoded_.size || term_.blocks[block_].last >= high) return;
    }
  }

  // Returns the term's contribution to a place. Places of one window must ascend.
  Units at(Place place, std::span<const Length> lengths, const Shares& shares) {
    while (block_ < term_.blocks.size() && term_.blocks[block_].last < place) ++block_;
    if (block_ == term_.blocks.size()) return 0;
    load(block_);
    const std::size_t i = first_from(place);
    if (i >= decoded_.size || decoded_.places[i] != place) return 0;
    read_counts();
    return units_of(weight_, shares.at(decoded_.counts[i] + 1, lengths[place]));
  }

 private:
  // Returns the first posting of the block at or after `place`. A branch-free binary search in seven steps:
  // branches would be mispredicted.
  std::size_t first_from(Place place) const {
    static_assert(block_postings == 128);
    const Place* at = decoded_.places.data();
    for (std::size_t half = block_postings / 2; half > 0; half /= 2) at += at[half - 1] < place ? half : 0;
    at += *at < place ? 1 : 0;
    return static_cast<std::size_t>(at - decoded_.places.data());
  }

  void load(std::size_t block) {
    if (loaded_ == block) return;
    term_.decode_places(block, decoded_);
    std::fill(decoded_.places.begin() + static_cast<std::ptrdiff_t>(decoded_.size), decoded_.places.end(),
              std::numeric_limits<Place>::max());
    loaded_ = block;
    has_counts_ = false;
  }
  void read_counts() {
    if (has_counts_) return;
    term_.decode_counts(loaded_, decoded_);
    has_counts_ = true;
  }

  Term term_;
  float weight_, block_bound_;
  std::size_t block_ = 0;
  std::size_t loaded_ = ~std::size_t{0};
  bool has_counts_ = false;
  DecodedBlock decoded_;
};

class WindowedSearch {
 public:
  WindowedSearch(const LivingPart& part, std::uint32_t number, std::span<const WeighedTerm> terms,
                 const Shares& shares, float slack, const Bits* allowed, BestChunks& best)
      : part_(part),
        number_(number),
        lengths_(part.segment().lengths()),
        shares_(shares),
        allowed_(allowed),
        best_(best) {
    cursors_.reserve(terms.size());
    for (const WeighedTerm& term : terms) cursors_.emplace_back(term, slack);
    order_.resize(terms.size());
    bounds_.resize(terms.size());
    below_.resize(terms.size() + 1);
  }

  void run() {
    const Place size = static_cast<Place>(part_.segment().size());
    for (Place low = 0; low < size; low += window_places) {
      const Place high = std::min(size, low + window_places);
      const std::size_t aside = arrange(low, high);
      if (aside == cursors_.size()) continue;
      for (std::size_t i = aside; i < order_.size(); ++i)
        cursors_[order_[i]].add_window(low, high, lengths_, shares_, sums_.data(), marks_.data());
      collect(low, aside);
      for (std::size_t i = aside; i-- > 0 && !candidates_.empty();) look_up(low, high, i);
      for (const Place at : candidates_) best_.offer(sums_[at], {number_, low + at});
      clear();
    }
  }

 private:
  // Orders the terms by their bound in the window; returns how many of the first can be skipped.
  std::size_t arrange(Place low, Place high) {
    for (std::size_t i = 0; i < cursors_.size(); ++i) bounds_[i] = cursors_[i].bound(low, high);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::sort(order_.begin(), order_.end(),
              [&](std::size_t a, std::size_t b) { return bounds_[a] < bounds_[b]; });
    std::size_t aside = 0;
    below_[0] = 0;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      below_[i + 1] = below_[i] + bounds_[order_[i]];
      if (below_[i + 1] <= best_.bar()) aside = i + 1;
    }
    return aside;
  }

  // Collects the places of the window that the skipped terms could still lift over the bar.
  void collect(Place low, std::size_t aside) {
    candidates_.clear();
    const Units least = missing(aside);
    for (std::size_t group = 0; group < marks_.size(); ++group) {
      if (marks_[group] == 0) continue;
      for (std::size_t i = group * marked_together; i < (group + 1) * marked_together; i += 16) {
        for (std::uint32_t rest = those_above(sums_.data() + i, least); rest != 0; rest &= rest - 1) {
          const auto at = static_cast<Place>(i + static_cast<std::size_t>(std::countr_zero(rest)));
          if (may_be_found(low + at)) candidates_.push_back(at);
        }
      }
    }
  }

  // Adds the contribution of the i-th skipped term, and drops candidates that the others cannot lift over the
  // bar.
  void look_up(Place low, Place high, std::size_t i) {
    Cursor& cursor = cursors_[order_[i]];
    // A lookup costs about as much as adding this many consecutive postings.
    constexpr std::size_t postings_per_look_up = 6;
    if (candidates_.size() * postings_per_look_up > cursor.postings_in(low, high))
      cursor.add_window(low, high, lengths_, shares_, sums_.data(), marks_.data());
    else
      for (const Place at : candidates_) sums_[at] += cursor.at(low + at, lengths_, shares_);
    const Units least = missing(i);
    std::erase_if(candidates_, [&](Place at) { return sums_[at] <= least; });
  }

  bool may_be_found(Place place) const {
    return !part_.is_dead(place) && (allowed_ == nullptr || allowed_->test(place));
  }

  void clear() {
    for (std::size_t group = 0; group < marks_.size(); ++group) {
      if (marks_[group] == 0) continue;
      marks_[group] = 0;
      std::memset(sums_.data() + group * marked_together, 0, marked_together * sizeof(Units));
    }
  }

  // Returns the value that a sum must exceed.
  Units missing(std::size_t aside) const {
    return best_.bar() > below_[aside] ? best_.bar() - static_cast<Units>(below_[aside]) : 0;
  }

  const LivingPart& part_;
  std::uint32_t number_;
  std::span<const Length> lengths_;
  const Shares& shares_;
  const Bits* allowed_;
  BestChunks& best_;
  std::vector<Cursor> cursors_;
  std::vector<std::size_t> order_;    // of the terms, by bound
  std::vector<Units> bounds_;         // by term
  std::vector<std::uint64_t> below_;  // in that order: sum of the previous bounds
  std::vector<Place> candidates_;     // relative to the window's start
  std::array<Units, window_places> sums_{};
  std::array<std::uint8_t, window_places / marked_together> marks_{};
};

}  // namespace

void search_part(const LivingPart& part, std::uint32_t number, std::span<const WeighedTerm> terms,
                 const Shares& shares, float slack, const Bits* allowed, BestChunks& best) {
  WindowedSearch(part, number, terms, shares, slack, allowed, best).run();
}

void search_part_reading_all(const LivingPart& part, std::uint32_t number, std::span<const WeighedTerm> terms,
                             const Shares& shares, const Bits* allowed, BestChunks& best) {
  std::vector<Units> sums(part.segment().size());
  DecodedBlock block;
  for (const WeighedTerm& weighed : terms) {
    for (std::size_t i = 0; i < weighed.term.blocks.size(); ++i) {
      weighed.term.decode(i, block);
      for (std::size_t j = 0; j < block.size; ++j) {
        const Place place = block.places[j];
        sums[place] +=
            units_of(weighed.weight, shares.at(block.counts[j] + 1, part.segment().lengths()[place]));
      }
    }
  }
  for (Place place = 0; place < sums.size(); ++place)
    if (!part.is_dead(place) && (allowed == nullptr || allowed->test(place)))
      best.offer(sums[place], {number, place});
}

}  // namespace plimsoll::search
