#include "search/max_score.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace plimsoll::search {

namespace {

// Sums of a window stay in the first-level cache, and a window is some blocks of a common term.
constexpr Place window_places = 4096;

class Cursor {
 public:
  Cursor(const WeighedTerm& weighed, float slack)
      : term_(weighed.term), weight_(weighed.weight), block_bound_(weighed.weight * slack / 65'535.0F) {}

  // The most that any place in [low, high) can get. Windows come in ascending order.
  Units bound(Place low, Place high) {
    while (block_ < term_.blocks.size() && term_.blocks[block_].last < low) ++block_;
    std::uint16_t most = 0;
    for (std::size_t i = block_; i < term_.blocks.size(); ++i) {
      most = std::max(most, term_.blocks[i].weight);
      if (term_.blocks[i].last >= high - 1) break;
    }
    // Rounded up twice: what a posting gets can never be above.
    return most == 0
               ? 0
               : static_cast<Units>(std::min(static_cast<float>(most) * block_bound_ * 1.00001F, weight_)) +
                     2;
  }

  // Adds what the term gives to each place of the window; marks the places.
  void add_window(Place low, Place high, std::span<const Length> lengths, LengthNorm norm, Units* sums,
                  std::uint64_t* marks) {
    for (; block_ < term_.blocks.size(); ++block_) {
      load(block_);
      read_counts();
      std::size_t i = 0;
      if (decoded_.places[0] < low)
        i = static_cast<std::size_t>(
            std::lower_bound(decoded_.places.begin(),
                             decoded_.places.begin() + static_cast<std::ptrdiff_t>(decoded_.size), low) -
            decoded_.places.begin());
      for (; i < decoded_.size && decoded_.places[i] < high; ++i) {
        const Place place = decoded_.places[i];
        const Place at = place - low;
        sums[at] += units_of(weight_, static_cast<float>(decoded_.counts[i] + 1), norm.at(lengths[place]));
        marks[at / 64] |= std::uint64_t{1} << (at % 64);
      }
      if (i < decoded_.size || term_.blocks[block_].last >= high) return;
    }
  }

  // What the term gives to a place. Places of one window come in ascending order.
  Units at(Place place, std::span<const Length> lengths, LengthNorm norm) {
    while (block_ < term_.blocks.size() && term_.blocks[block_].last < place) ++block_;
    if (block_ == term_.blocks.size()) return 0;
    load(block_);
    const auto end = decoded_.places.begin() + static_cast<std::ptrdiff_t>(decoded_.size);
    const auto found = std::lower_bound(decoded_.places.begin(), end, place);
    if (found == end || *found != place) return 0;
    read_counts();
    const auto i = static_cast<std::size_t>(found - decoded_.places.begin());
    return units_of(weight_, static_cast<float>(decoded_.counts[i] + 1), norm.at(lengths[place]));
  }

 private:
  void load(std::size_t block) {
    if (loaded_ == block) return;
    term_.decode_places(block, decoded_);
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
                 LengthNorm norm, float slack, const Bits* allowed, BestChunks& best)
      : part_(part),
        number_(number),
        lengths_(part.segment().lengths()),
        norm_(norm),
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
        cursors_[order_[i]].add_window(low, high, lengths_, norm_, sums_.data(), marks_.data());
      take_marked(low, aside);
    }
  }

 private:
  // Orders the terms by what they can give in the window; says how many of the first can be left aside.
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

  void take_marked(Place low, std::size_t aside) {
    for (std::size_t word = 0; word < marks_.size(); ++word) {
      for (std::uint64_t rest = marks_[word]; rest != 0; rest &= rest - 1) {
        const auto at = static_cast<Place>(word * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
        const Units sum = sums_[at];
        sums_[at] = 0;
        if (std::uint64_t{sum} + below_[aside] > best_.bar()) finish(low + at, sum, aside);
      }
      marks_[word] = 0;
    }
  }

  void finish(Place place, Units sum, std::size_t aside) {
    if (part_.is_dead(place) || (allowed_ != nullptr && !allowed_->test(place))) return;
    for (std::size_t i = aside; i-- > 0;) {
      if (std::uint64_t{sum} + below_[i + 1] <= best_.bar()) return;
      sum += cursors_[order_[i]].at(place, lengths_, norm_);
    }
    best_.offer(sum, {number_, place});
  }

  const LivingPart& part_;
  std::uint32_t number_;
  std::span<const Length> lengths_;
  LengthNorm norm_;
  const Bits* allowed_;
  BestChunks& best_;
  std::vector<Cursor> cursors_;
  std::vector<std::size_t> order_;    // of the terms, by bound
  std::vector<Units> bounds_;         // by term
  std::vector<std::uint64_t> below_;  // by order: sum of the bounds before
  std::array<Units, window_places> sums_{};
  std::array<std::uint64_t, window_places / 64> marks_{};
};

}  // namespace

void search_part(const LivingPart& part, std::uint32_t number, std::span<const WeighedTerm> terms,
                 LengthNorm norm, float slack, const Bits* allowed, BestChunks& best) {
  WindowedSearch(part, number, terms, norm, slack, allowed, best).run();
}

void search_part_reading_all(const LivingPart& part, std::uint32_t number, std::span<const WeighedTerm> terms,
                             LengthNorm norm, const Bits* allowed, BestChunks& best) {
  std::vector<Units> sums(part.segment().size());
  DecodedBlock block;
  for (const WeighedTerm& weighed : terms) {
    for (std::size_t i = 0; i < weighed.term.blocks.size(); ++i) {
      weighed.term.decode(i, block);
      for (std::size_t j = 0; j < block.size; ++j) {
        const Place place = block.places[j];
        sums[place] += units_of(weighed.weight, static_cast<float>(block.counts[j] + 1),
                                norm.at(part.segment().lengths()[place]));
      }
    }
  }
  for (Place place = 0; place < sums.size(); ++place)
    if (!part.is_dead(place) && (allowed == nullptr || allowed->test(place)))
      best.offer(sums[place], {number, place});
}

}  // namespace plimsoll::search
