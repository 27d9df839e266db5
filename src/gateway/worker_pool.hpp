// Threads for work that blocks, shared fairly: owners are served in turn, and no owner has all threads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace plimsoll::gateway {

// What kind of work it is; each kind has threads of its own.
enum class Lane : std::uint8_t {
  interactive,  // planning, reading, listing
  bulk,         // indexing, embedding, uploads, snapshots
  upstreams,    // asking servers for their models
};

struct PoolRules {
  std::size_t threads = 0;             // of ordinary priority
  std::size_t background_threads = 0;  // that give way to all others of this machine
  std::size_t per_owner = 1;           // threads that one owner may have at once
  // Of these of ordinary priority, where there are background threads for the rest. Whoever has no name (no keys
  // are asked for, or none was read yet) is not held to it.
  std::size_t ordinary_per_owner = 1;
};

// Any thread may post at any time.
class WorkerPool {
 public:
  using Work = std::function<void()>;  // does not throw

  explicit WorkerPool(PoolRules rules);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  // Waits for what runs; what waits is dropped.
  ~WorkerPool();

  void post(const std::string& owner, Work work);
  // Drops what waits, and begins nothing more.
  void stop();
  // Whether nothing runs and nothing waits any more, after no longer than that.
  bool wait_until_idle(std::chrono::steady_clock::time_point end);

 private:
  struct Queue {
    std::deque<Work> waiting;
    std::size_t running = 0, ordinary = 0;  // the second is a part of the first
  };
  void run(bool is_background);
  bool may_run(const std::string& owner, bool is_background);
  bool take(bool is_background, std::string& owner, Work& work);

  const PoolRules rules_;
  std::mutex mutex_;  // of what follows
  std::condition_variable due_, background_due_, idle_;
  std::map<std::string, Queue> queues_;
  std::deque<std::string> turns_;  // owners with something that waits, the next one first
  std::size_t running_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

// One pool for each kind of work.
class WorkerPools {
 public:
  explicit WorkerPools(std::size_t threads);
  WorkerPool& at(Lane lane);
  void stop();
  bool wait_until_idle(std::chrono::steady_clock::time_point end);

 private:
  WorkerPool interactive_, bulk_, upstreams_;
};

}  // namespace plimsoll::gateway
