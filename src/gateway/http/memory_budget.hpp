// Memory limit for the running requests of all threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <unordered_map>

#include "gateway/http/fair_share.hpp"

namespace plimsoll::gateway {

// Memory of a request while its upstream answers, as a multiple of its body: the body, the sent request, the
// parsed request as text, and the plan. Measured: 2.9 (an image) to 5.5 (messages of 55 bytes).
constexpr std::size_t held_per_body_byte = 5;

// Memory of an answer that waits for its client: the upstream's, and what was made of it.
constexpr std::size_t held_per_answer_byte = 2;

// A key may hold at most as much as remains free, so that others find room.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::size_t limit) : limit_(limit) {}

  std::size_t limit() const { return limit_; }
  std::size_t used() const { return used_.load(); }
  bool has_room_for(std::size_t bytes) const { return bytes <= limit_ && used_.load() <= limit_ - bytes; }

 private:
  friend class HeldMemory;
  // `key`: a hash of the sent key; 0: no key was sent, and no share applies.
  bool take_share(std::size_t key, std::size_t more) {
    if (key == 0) return true;
    const std::lock_guard lock(mutex_);
    std::size_t& own = shares_[key];
    if (!key_may_have(own, used_.load(), more, limit_)) {
      if (own == 0) shares_.erase(key);
      return false;
    }
    own += more;
    return true;
  }
  void give_share(std::size_t key, std::size_t bytes) {
    if (key == 0 || bytes == 0) return;
    const std::lock_guard lock(mutex_);
    const auto own = shares_.find(key);
    if ((own->second -= bytes) == 0) shares_.erase(own);
  }

  const std::size_t limit_;
  std::atomic<std::size_t> used_ = 0;
  std::mutex mutex_;  // guards the members below
  std::unordered_map<std::size_t, std::size_t> shares_;
};

// One request's part, returned when it is destroyed.
class HeldMemory {
 public:
  explicit HeldMemory(MemoryBudget& budget, std::size_t key = 0) : budget_(budget), key_(key) {}
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;
  ~HeldMemory() {
    budget_.used_.fetch_sub(held_);
    budget_.give_share(key_, share_);
  }

  // False: no room for a body of this length; nothing more was taken.
  bool grow_to_body(std::size_t bytes) { return grow_to(bytes * held_per_body_byte); }
  // The same for an answer, in addition to the body.
  bool add_answer(std::size_t bytes) { return grow_to(held_ + bytes * held_per_answer_byte); }

 private:
  bool grow_to(std::size_t wanted) {
    if (wanted <= held_) return true;
    const std::size_t more = wanted - held_;
    const std::size_t share = wanted > small ? wanted - share_ : 0;
    if (share > 0 && !budget_.take_share(key_, share)) return false;
    share_ += share;
    const std::size_t before = budget_.used_.fetch_add(more);
    if (before + more > budget_.limit_) {
      budget_.used_.fetch_sub(more);
      return false;
    }
    held_ = wanted;
    return true;
  }

  static constexpr std::size_t small = 256 << 10;  // not worth a lock

  MemoryBudget& budget_;
  const std::size_t key_;
  std::size_t held_ = 0, share_ = 0;
};

}  // namespace plimsoll::gateway
