// Memory limit for the running requests of all threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <unordered_map>

#include "gateway/limits/fair_share.hpp"
#include "gateway/limits/plan_turns.hpp"

namespace plimsoll::gateway {

// Memory of a request while its upstream answers, as a multiple of its body: the body, the sent request, the
// parsed request as text, and the plan. Measured: 2.9 (an image) to 5.5 (messages of 55 bytes).
constexpr std::size_t held_per_body_byte = 5;

// Memory of an answer that arrives or waits for its client: the upstream's, and what was made of it.
constexpr std::size_t held_per_answer_byte = 2;

// Shorter answers are not counted: they fit into the system's buffers.
constexpr std::size_t least_held_answer = std::size_t{256} << 10;

// A key may hold at most as much as remains free, so that others find room.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::size_t limit) : limit_(limit) {}

  std::size_t limit() const { return limit_; }
  void set_limit(std::size_t limit) { limit_ = limit; }
  std::size_t used() const { return used_.load(); }
  std::size_t left() const {
    const std::size_t used = used_, limit = limit_;
    return limit > used ? limit - used : 0;
  }
  bool has_room_for(std::size_t bytes) const { return bytes <= left(); }
  PlanTurns& plan_turns() { return plan_turns_; }

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
    own->second -= bytes;
    if (own->second == 0) shares_.erase(own);
  }

  std::atomic<std::size_t> limit_;
  std::atomic<std::size_t> used_ = 0;
  PlanTurns plan_turns_{[this] { return left(); }};
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
    budget_.used_.fetch_sub(body_ + answer_);
    budget_.give_share(key_, share_);
  }

  // False: no room for a body of this length; nothing more was taken.
  bool grow_to_body(std::size_t bytes) { return grow(body_, bytes * held_per_body_byte); }
  // The same for an answer, in addition to the body.
  bool grow_to_answer(std::size_t bytes) { return grow(answer_, bytes * held_per_answer_byte); }

  std::size_t body_bytes() const { return body_ / held_per_body_byte; }
  std::size_t key() const { return key_; }
  MemoryBudget& budget() const { return budget_; }

 private:
  bool grow(std::size_t& part, std::size_t wanted) {
    if (wanted <= part) return true;
    const std::size_t more = wanted - part, all = body_ + answer_ + more;
    const std::size_t share = all > small && all > share_ ? all - share_ : 0;
    if (share > 0 && !budget_.take_share(key_, share)) return false;
    share_ += share;
    const std::size_t before = budget_.used_.fetch_add(more);
    if (before + more > budget_.limit_) {
      budget_.used_.fetch_sub(more);
      return false;
    }
    part = wanted;
    return true;
  }

  static constexpr std::size_t small = 256 << 10;  // not worth a lock

  MemoryBudget& budget_;
  const std::size_t key_;
  std::size_t body_ = 0, answer_ = 0;  // bytes that are held for them
  std::size_t share_ = 0;
};

}  // namespace plimsoll::gateway
