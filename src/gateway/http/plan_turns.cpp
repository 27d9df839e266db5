#include "gateway/http/plan_turns.hpp"

#include <algorithm>

namespace plimsoll::gateway {

PlanTurns::Turn::Turn(PlanTurns& turns, std::size_t key, std::size_t body_bytes)
    : turns_(turns), key_(key), bytes_(body_bytes * planned_per_body_byte) {
  const std::lock_guard lock(turns_.mutex_);
  place_ = turns_.waiting_.insert(turns_.waiting_.end(), this);
  turns_.last_.try_emplace(key_, 0);
}

PlanTurns::Turn::~Turn() {
  const std::lock_guard lock(turns_.mutex_);
  if (has_begun_) {
    --turns_.running_;
    turns_.running_bytes_ -= bytes_;
  } else {
    turns_.waiting_.erase(place_);
  }
  const bool waits = std::ranges::any_of(turns_.waiting_, [&](const Turn* one) { return one->key_ == key_; });
  if (!waits) turns_.last_.erase(key_);
}

bool PlanTurns::Turn::has_begun() {
  const std::lock_guard lock(turns_.mutex_);
  if (has_begun_ || turns_.next() != this) return has_begun_;
  const std::size_t free = turns_.free_bytes_();
  if (turns_.running_ > 0 && turns_.running_bytes_ + bytes_ > free) return false;
  has_begun_ = true;
  turns_.waiting_.erase(place_);
  turns_.last_[key_] = ++turns_.begun_;
  ++turns_.running_;
  turns_.running_bytes_ += bytes_;
  return true;
}

// Returns the oldest one of the key whose last turn is longest ago.
PlanTurns::Turn* PlanTurns::next() const {
  const auto found =
      std::ranges::min_element(waiting_, {}, [&](const Turn* one) { return last_.at(one->key_); });
  return found == waiting_.end() ? nullptr : *found;
}

}  // namespace plimsoll::gateway
