#include "gateway/limits/plan_turns.hpp"

#include <algorithm>
#include <utility>

namespace plimsoll::gateway {

PlanTurns::Turn::Turn(PlanTurns& turns, std::size_t key, std::size_t body_bytes)
    : turns_(turns), key_(key), bytes_(body_bytes * planned_per_body_byte) {
  const std::lock_guard lock(turns_.mutex_);
  place_ = turns_.waiting_.insert(turns_.waiting_.end(), this);
  ++turns_.keys_.try_emplace(key_, Key{.last = turns_.begun_}).first->second.waiting;
}

PlanTurns::Turn::~Turn() {
  const std::lock_guard lock(turns_.mutex_);
  Key& key = turns_.keys_.at(key_);
  if (has_begun_) {
    --key.running;
    --turns_.running_;
    turns_.running_bytes_ -= bytes_;
  } else {
    --key.waiting;
    turns_.waiting_.erase(place_);
  }
  if (key.waiting == 0 && key.running == 0) turns_.keys_.erase(key_);
}

bool PlanTurns::Turn::has_begun() {
  const std::lock_guard lock(turns_.mutex_);
  if (has_begun_ || turns_.next() != this) return has_begun_;
  const std::size_t free = turns_.free_bytes_();
  if (turns_.running_ > 0 && turns_.running_bytes_ + bytes_ > free) return false;
  has_begun_ = true;
  turns_.waiting_.erase(place_);
  Key& key = turns_.keys_.at(key_);
  --key.waiting;
  ++key.running;
  key.last = ++turns_.begun_ + 1;
  ++turns_.running_;
  turns_.running_bytes_ += bytes_;
  return true;
}

// Returns the oldest one of the key that goes first.
PlanTurns::Turn* PlanTurns::next() const {
  const auto rank = [&](const Turn* one) {
    const Key& key = keys_.at(one->key_);
    return std::pair(key.running, key.last);
  };
  const auto found = std::ranges::min_element(waiting_, {}, rank);
  return found == waiting_.end() ? nullptr : *found;
}

}  // namespace plimsoll::gateway
