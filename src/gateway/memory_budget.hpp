// How much memory the requests under way may take, over all threads.
#pragma once

#include <atomic>
#include <cstddef>

namespace plimsoll::gateway {

// What a request holds while its upstream answers, as a multiple of its body: the body, what is sent, the
// parsed request as text, and the plan. Measured at 2.9 (an image) to 5.5 (messages of 55 bytes).
constexpr std::size_t held_per_body_byte = 5;

class MemoryBudget {
 public:
  explicit MemoryBudget(std::size_t limit) : limit_(limit) {}

  std::size_t limit() const { return limit_; }
  std::size_t used() const { return used_.load(); }
  bool has_room_for(std::size_t bytes) const { return bytes <= limit_ && used_.load() <= limit_ - bytes; }

 private:
  friend class HeldMemory;
  const std::size_t limit_;
  std::atomic<std::size_t> used_ = 0;
};

// One request's part of it, given back at its end.
class HeldMemory {
 public:
  explicit HeldMemory(MemoryBudget& budget) : budget_(budget) {}
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;
  ~HeldMemory() { budget_.used_.fetch_sub(held_); }

  // False: the budget has no room for a body of that length, and nothing more was taken.
  bool grow_to_body(std::size_t bytes) {
    const std::size_t wanted = bytes * held_per_body_byte;
    if (wanted <= held_) return true;
    const std::size_t more = wanted - held_;
    const std::size_t before = budget_.used_.fetch_add(more);
    if (before + more > budget_.limit_) {
      budget_.used_.fetch_sub(more);
      return false;
    }
    held_ = wanted;
    return true;
  }

 private:
  MemoryBudget& budget_;
  std::size_t held_ = 0;
};

}  // namespace plimsoll::gateway
