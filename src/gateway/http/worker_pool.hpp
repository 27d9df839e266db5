// Threads for blocking work, shared fairly: owners are served in turn, and no owner gets all threads.
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

// The kind of work; each kind has its own threads.
enum class Lane : std::uint8_t {
  interactive,  // planning, reading, listing
  bulk,         // indexing, embedding, uploads, snapshots
  upstreams,    // asking servers for their models
};

struct PoolRules {
  std::size_t threads = 1;                         // at most; each starts when there is work for it
  std::size_t per_owner = 1;                       // most threads per owner
  std::size_t per_owner_beside = ~std::size_t{0};  // the same while another owner is active, or was recently
  bool is_background = false;                      // runs with lower priority
};

// post() is thread-safe. Work is posted by threads of normal priority, which new threads inherit.
class WorkerPool {
 public:
  using Work = std::function<void()>;  // does not throw

  explicit WorkerPool(PoolRules rules);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  // Calls join().
  ~WorkerPool();

  void post(const std::string& owner, Work work);
  // Drops waiting work and starts nothing more.
  void stop();
  // Calls stop() and waits for running work.
  void join();
  // Waits until nothing runs or waits, at most until `end`. False: not idle yet.
  bool wait_until_idle(std::chrono::steady_clock::time_point end);

 private:
  struct Queue {
    std::deque<Work> waiting;
    std::size_t running = 0;
  };
  void run();
  bool is_alone(const std::string& owner) const;
  std::deque<std::string>::iterator next_turn();
  void add_thread_if_due();
  bool take(std::string& owner, Work& work);

  PoolRules rules_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable due_, idle_;
  std::map<std::string, Queue> queues_;
  std::deque<std::string> turns_;  // owners with waiting work, the next one first
  struct Posted {
    std::string owner{};
    std::chrono::steady_clock::time_point at{};  // long ago
  };
  Posted last_, last_other_;  // the last poster, and the last other one
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
