// The time by which something must be done. Every function that may wait takes a deadline and passes it on,
// so all parts of a request share one time limit.
#pragma once

#include <algorithm>
#include <chrono>

namespace plimsoll {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  static Deadline after(Clock::duration patience) { return Deadline(Clock::now() + patience); }
  static constexpr Deadline at(Clock::time_point moment) { return Deadline(moment); }

  constexpr Clock::time_point moment() const { return moment_; }
  // Never negative.
  Clock::duration left() const { return std::max(moment_ - Clock::now(), Clock::duration::zero()); }
  bool passed() const { return Clock::now() >= moment_; }

  // Returns the earlier deadline.
  friend constexpr Deadline sooner(Deadline a, Deadline b) { return a.moment_ < b.moment_ ? a : b; }

 private:
  explicit constexpr Deadline(Clock::time_point moment) : moment_(moment) {}

  Clock::time_point moment_;
};

}  // namespace plimsoll
