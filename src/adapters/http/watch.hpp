// One timer for all the deadlines of a thread. A timer of its own for every wait would cost a call of the
// system each; this one is set anew only when a deadline comes that is sooner than what it is set to.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "plimsoll/deadline.hpp"

namespace plimsoll::adapters {

class Watched {
 public:
  Watched() = default;
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  // The deadline has passed, and is not watched any more. Destroys nothing that is.
  virtual void expire() = 0;

 protected:
  ~Watched() = default;

 private:
  friend class Watch;
  static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
  std::size_t place_ = nowhere;  // in the watch's list
  Deadline::Clock::time_point when_;
};

class Watch : public std::enable_shared_from_this<Watch> {
 public:
  explicit Watch(const boost::asio::any_io_executor& executor) : timer_(executor) {}

  void add(Watched& watched, Deadline deadline);  // or moves its deadline
  void remove(Watched& watched);
  bool holds(const Watched& watched) const { return watched.place_ != Watched::nowhere; }

 private:
  void set(Deadline::Clock::time_point moment);
  void ring();

  boost::asio::steady_timer timer_;
  Deadline::Clock::time_point set_to_ = Deadline::Clock::time_point::max();  // max: not set
  std::vector<Watched*> watched_;
};

// Watches for as long as it lives.
class Patience {
 public:
  Patience(Watch& watch, Watched& watched, Deadline deadline) : watch_(watch), watched_(watched) {
    watch.add(watched, deadline);
  }
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;
  ~Patience() { watch_.remove(watched_); }

 private:
  Watch& watch_;
  Watched& watched_;
};

}  // namespace plimsoll::adapters
