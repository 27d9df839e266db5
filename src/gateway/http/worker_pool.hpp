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
  std::size_t threads = 1;
  std::size_t per_owner = 1;  // threads that one owner may have at once
  std::size_t per_owner_beside =
      ~std::size_t{0};         // the same while another owner is about, or was a moment ago
  bool is_background = false;  // gives way to other threads of this machine
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
    std::size_t running = 0;
  };
  void run();
  bool is_alone(const std::string& owner) const;
  bool take(std::string& owner, Work& work);

  const PoolRules rules_;
  std::mutex mutex_;  // of what follows
  std::condition_variable due_, idle_;
  std::map<std::string, Queue> queues_;
  std::deque<std::string> turns_;  // owners with something that waits, the next one first
  struct Posted {
    std::string owner{};
    std::chrono::steady_clock::time_point at{};  // long ago
  };
  Posted last_, last_other_;  // who posted last, and who of the others did
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
