#include "adapters/http/watch.hpp"

#include <algorithm>

namespace plimsoll::adapters {
namespace {

// Far enough, and no moment that a timer's arithmetic could overflow on.
constexpr std::chrono::hours longest_sleep(24);

}  // namespace

void Watch::add(Watched& watched, Deadline deadline) {
  watched.when_ = deadline.moment();
  if (!holds(watched)) {
    watched.place_ = watched_.size();
    watched_.push_back(&watched);
  }
  if (watched.when_ < set_to_) set(watched.when_);
}

void Watch::remove(Watched& watched) {
  if (!holds(watched)) return;
  Watched* last = watched_.back();
  watched_[watched.place_] = last;
  last->place_ = watched.place_;
  watched_.pop_back();
  watched.place_ = Watched::nowhere;
}

void Watch::set(Deadline::Clock::time_point moment) {
  set_to_ = std::min(moment, Deadline::Clock::now() + longest_sleep);
  timer_.expires_at(set_to_);
  timer_.async_wait([self = weak_from_this()](boost::system::error_code error) {
    if (error) return;
    if (const auto watch = self.lock()) watch->ring();
  });
}

void Watch::ring() {
  const auto now = Deadline::Clock::now();
  set_to_ = Deadline::Clock::time_point::max();
  auto next = set_to_;
  for (std::size_t i = watched_.size(); i-- > 0;) {
    Watched& one = *watched_[i];
    if (one.when_ > now) {
      next = std::min(next, one.when_);
    } else {
      remove(one);  // the last takes its place, and has been looked at
      one.expire();
    }
  }
  if (next < set_to_) set(next);
}

}  // namespace plimsoll::adapters
