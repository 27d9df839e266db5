#include "gateway/http/worker_pool.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/log.hpp"

namespace plimsoll::gateway {
namespace {

constexpr std::size_t most_slow_threads = 64;  // for each kind of work that takes long

// Lowers the priority of this thread and of those it starts.
void give_way() {
  constexpr int nicer = 10;  // with others it gets a tenth of a core; alone, the whole core
  (void)setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), nicer);
}

}  // namespace

// The first thread starts here, so that there is always one.
WorkerPool::WorkerPool(PoolRules rules) : rules_(rules) {
  threads_.emplace_back([this] { run(); });
}

WorkerPool::~WorkerPool() {
  join();
}

void WorkerPool::join() {
  stop();
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    std::swap(threads, threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

void WorkerPool::post(const std::string& owner, Work work) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    Queue& queue = queues_[owner];
    if (queue.waiting.empty()) turns_.push_back(owner);
    queue.waiting.push_back(std::move(work));
    if (last_.owner != owner) last_other_ = std::exchange(last_, {.owner = owner});
    last_.at = std::chrono::steady_clock::now();
    add_thread_if_due();
  }
  due_.notify_one();
}

// Starts a thread if all are busy and there is work that may be taken.
void WorkerPool::add_thread_if_due() {
  const bool all_busy = running_ == threads_.size();
  if (!all_busy || threads_.size() >= rules_.threads || next_turn() == turns_.end()) return;
  try {
    threads_.emplace_back([this] { run(); });
  } catch (const std::system_error& error) {
    log::warning("cannot start another thread", {{"threads", threads_.size()}, {"why", error.what()}});
  }
}

void WorkerPool::stop() {
  std::map<std::string, Queue> dropped;  // destroyed without the lock: dropped work may post
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    turns_.clear();
    for (auto& [owner, queue] : queues_) std::swap(dropped[owner].waiting, queue.waiting);
  }
  due_.notify_all();
  idle_.notify_all();
}

bool WorkerPool::wait_until_idle(std::chrono::steady_clock::time_point end) {
  std::unique_lock lock(mutex_);
  return idle_.wait_until(lock, end, [&] { return running_ == 0 && turns_.empty(); });
}

// Returns whether no other owner has had work for a while.
bool WorkerPool::is_alone(const std::string& owner) const {
  constexpr std::chrono::seconds recent{10};
  const Posted& other = last_.owner == owner ? last_other_ : last_;
  return other.at == Posted{}.at || std::chrono::steady_clock::now() - other.at > recent;
}

// Returns the first owner in turn that may use one more thread.
std::deque<std::string>::iterator WorkerPool::next_turn() {
  return std::ranges::find_if(turns_, [&](const std::string& one) {
    const std::size_t running = queues_[one].running;
    return running < rules_.per_owner && (running < rules_.per_owner_beside || is_alone(one));
  });
}

// Takes work of the next owner and moves the owner to the end.
bool WorkerPool::take(std::string& owner, Work& work) {
  const auto next = next_turn();
  if (next == turns_.end()) return false;
  owner = *next;
  turns_.erase(next);
  Queue& queue = queues_[owner];
  work = std::move(queue.waiting.front());
  queue.waiting.pop_front();
  ++queue.running;
  ++running_;
  if (!queue.waiting.empty()) turns_.push_back(owner);
  add_thread_if_due();
  return true;
}

void WorkerPool::run() {
  if (rules_.is_background) give_way();
  std::unique_lock lock(mutex_);
  while (true) {
    std::string owner;
    Work work;
    due_.wait(lock, [&] { return stopping_ || take(owner, work); });
    if (!work) return;
    lock.unlock();
    work();
    work = {};
    lock.lock();
    --running_;
    const auto queue = queues_.find(owner);
    if (--queue->second.running == 0 && queue->second.waiting.empty()) queues_.erase(queue);
    idle_.notify_all();
    due_.notify_one();
  }
}

// One thread more than an owner may use, so no owner blocks another. Several jobs of one owner run one after
// the other while other owners are active, which leaves them a core. Bulk work and servers take long: each
// owner has a thread, and the system divides the processor among them.
WorkerPools::WorkerPools(std::size_t threads)
    : interactive_({.threads = threads + 1, .per_owner = threads, .per_owner_beside = 1}),
      bulk_({.threads = most_slow_threads, .per_owner = 2, .per_owner_beside = 1, .is_background = true}),
      upstreams_({.threads = most_slow_threads, .per_owner = 2}) {}

WorkerPool& WorkerPools::at(Lane lane) {
  return lane == Lane::interactive ? interactive_ : lane == Lane::bulk ? bulk_ : upstreams_;
}

void WorkerPools::stop() {
  for (WorkerPool* pool : {&interactive_, &bulk_, &upstreams_}) pool->stop();
}

bool WorkerPools::wait_until_idle(std::chrono::steady_clock::time_point end) {
  return interactive_.wait_until_idle(end) && bulk_.wait_until_idle(end) && upstreams_.wait_until_idle(end);
}

}  // namespace plimsoll::gateway
