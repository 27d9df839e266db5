// Keeps the best k hits, offered in ascending order of ids: among equals the earlier one stays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace plimsoll::search {

template <typename Score, typename Id>
class BestHits {
 public:
  struct Entry {
    Score score;
    Id id;
  };

  // `bar`: initial lower bound of scores.
  explicit BestHits(std::size_t k, Score bar = 0) : k_(k), bar_(bar) {}

  // The score that a new hit must exceed.
  Score bar() const { return bar_; }

  void offer(Score score, Id id) {
    if (!(score > bar_) || k_ == 0) return;
    if (heap_.size() == k_) {
      std::pop_heap(heap_.begin(), heap_.end(), better);
      heap_.back() = {score, id};
    } else {
      heap_.push_back({score, id});
    }
    std::push_heap(heap_.begin(), heap_.end(), better);
    if (heap_.size() == k_) bar_ = heap_.front().score;
  }

  std::vector<Entry> take() {
    std::sort(heap_.begin(), heap_.end(), better);
    return std::move(heap_);
  }

 private:
  static bool better(const Entry& a, const Entry& b) {
    return a.score > b.score || (a.score == b.score && a.id < b.id);
  }

  std::size_t k_;
  Score bar_;
  std::vector<Entry> heap_;  // the worst on top
};

}  // namespace plimsoll::search
