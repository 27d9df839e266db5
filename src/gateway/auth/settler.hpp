// Settles what requests have used of limits that are kept on a server, on its own thread: an answer does not
// wait for it, and what could not be settled is tried again.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "plimsoll/keys.hpp"

namespace plimsoll::gateway {

struct SettlerOptions {
  std::chrono::milliseconds between_tries{500};  // after a failure
  std::chrono::milliseconds at_end{5'000};       // how long the end waits for the store
  std::size_t most_waiting = 10'000;             // above it, entries of an owner are added up
};

// Thread-safe.
class Settler {
 public:
  // `settled` is called on any thread that settles.
  using Settled = std::function<void(const std::string& owner, const LimitStore::Settled& settled)>;
  Settler(std::shared_ptr<LimitStore> store, Settled settled, SettlerOptions options = {});
  Settler(const Settler&) = delete;
  Settler& operator=(const Settler&) = delete;
  // Settles what waits.
  ~Settler();

  void add(LimitShare share, Tokens used);
  // Settles what waits of an owner before it reserves more. Blocks.
  void settle_now(const std::string& owner);
  // From now on nobody is told of what is settled.
  void stop_telling();
  std::size_t waiting() const;

 private:
  struct Entry {
    LimitShare share;
    Tokens used = 0;
  };
  bool settle(const Entry& entry);
  void add_up();
  void run();

  const std::shared_ptr<LimitStore> store_;
  const SettlerOptions options_;
  std::mutex telling_;
  Settled settled_;

  mutable std::mutex mutex_;
  std::condition_variable due_;
  std::deque<Entry> waiting_;
  bool stopping_ = false;
  std::thread thread_;  // last: starts after all other members exist
};

}  // namespace plimsoll::gateway
