// What requests take of limits that are kept on a server, and what they have used. What others want gathers
// while one round trip is under way, and goes together in the next one. Nobody waits for what was used to be
// settled: it goes along with the next request, or by itself soon after, and what could not be settled is
// tried again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "plimsoll/keys.hpp"

namespace plimsoll::gateway {

struct LimitQueueOptions {
  std::chrono::milliseconds patience{20};        // what was used waits so long for a request to go along with
  std::chrono::milliseconds between_tries{500};  // after a failure
  std::chrono::milliseconds at_end{5'000};       // how long the end waits for the store
  std::size_t most_waiting = 10'000;             // above it, what an owner used is added up
  std::size_t most_steps = 64;                   // of one round trip
};

// Thread-safe.
class LimitQueue {
 public:
  // `settled` is called on any thread that uses the queue.
  using Settled = std::function<void(const std::string& owner, const LimitUsed& settled)>;
  LimitQueue(std::shared_ptr<LimitStore> store, Settled settled, LimitQueueOptions options = {});
  LimitQueue(const LimitQueue&) = delete;
  LimitQueue& operator=(const LimitQueue&) = delete;
  // Settles what waits.
  ~LimitQueue();

  // After all that was added for its owner before. Blocks.
  Result<LimitGrant> take(const LimitWish& wish);
  void settle(LimitShare share, Tokens used);
  // Takes of what is left by then, if there is enough. Not waited for.
  void count(LimitWish wish);
  // From now on nobody is told of what is settled.
  void stop_telling();
  // How much is still to be settled and counted.
  std::size_t waiting() const;

 private:
  using Clock = std::chrono::steady_clock;
  // A thread that waits in take().
  struct Taker {
    std::condition_variable wake;
    std::optional<Result<LimitGrant>> grant;
  };
  struct Entry {
    LimitStep step;
    Taker* taker = nullptr;  // none: not waited for
  };

  // Does a part of what waits. Returns whether the store did it. Nothing else may be under way.
  bool work(std::unique_lock<std::mutex>& lock);
  void give_up(const Error& error);
  // Wakes somebody who does the next part.
  void hand_on();
  void add(LimitStep step);
  void add_up();
  void run();

  const std::shared_ptr<LimitStore> store_;
  const LimitQueueOptions options_;
  std::mutex telling_;
  Settled settled_;

  mutable std::mutex mutex_;
  std::condition_variable due_;  // for the thread
  std::deque<Entry> waiting_;
  std::size_t owed_ = 0;  // of what waits, without the requests
  bool is_busy_ = false;
  bool stopping_ = false;
  std::thread thread_;  // last: starts after all other members exist
};

}  // namespace plimsoll::gateway
