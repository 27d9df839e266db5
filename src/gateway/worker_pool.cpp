#include "gateway/worker_pool.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace plimsoll::gateway {
namespace {

// Of this thread and of those that it starts.
void give_way() {
  constexpr int nicer = 15;  // beside others it gets a thirtieth of a core; alone, all of it
  (void)setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), nicer);
}

}  // namespace

WorkerPool::WorkerPool(PoolRules rules) : rules_(rules) {
  for (std::size_t i = 0; i < rules_.threads; ++i) threads_.emplace_back([this] { run(false); });
  for (std::size_t i = 0; i < rules_.background_threads; ++i) threads_.emplace_back([this] { run(true); });
}

WorkerPool::~WorkerPool() {
  stop();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::post(const std::string& owner, Work work) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    Queue& queue = queues_[owner];
    if (queue.waiting.empty()) turns_.push_back(owner);
    queue.waiting.push_back(std::move(work));
  }
  due_.notify_one();
  background_due_.notify_one();
}

void WorkerPool::stop() {
  std::map<std::string, Queue> dropped;  // ends without the lock: what is dropped may post
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    turns_.clear();
    for (auto& [owner, queue] : queues_) std::swap(dropped[owner].waiting, queue.waiting);
  }
  due_.notify_all();
  background_due_.notify_all();
  idle_.notify_all();
}

bool WorkerPool::wait_until_idle(std::chrono::steady_clock::time_point end) {
  std::unique_lock lock(mutex_);
  return idle_.wait_until(lock, end, [&] { return running_ == 0 && turns_.empty(); });
}

// What would have to wait for a thread of ordinary priority is for the others.
bool WorkerPool::may_run(const std::string& owner, bool is_background) {
  const Queue& queue = queues_[owner];
  if (queue.running >= rules_.per_owner) return false;
  if (rules_.threads == 0 || rules_.background_threads == 0) return true;
  const bool is_ordinary = owner.empty() || queue.ordinary < rules_.ordinary_per_owner;
  return is_ordinary != is_background;
}

// The first owner in turn that may have one more thread. The owner goes to the end of the line.
bool WorkerPool::take(bool is_background, std::string& owner, Work& work) {
  const auto next = std::ranges::find_if(
      turns_, [&](const std::string& one) { return may_run(one, is_background); });
  if (next == turns_.end()) return false;
  owner = *next;
  turns_.erase(next);
  Queue& queue = queues_[owner];
  work = std::move(queue.waiting.front());
  queue.waiting.pop_front();
  ++queue.running;
  if (!is_background) ++queue.ordinary;
  ++running_;
  if (!queue.waiting.empty()) {
    turns_.push_back(owner);
    background_due_.notify_one();  // which it may have become work for just now
  }
  return true;
}

void WorkerPool::run(bool is_background) {
  if (is_background) give_way();
  std::condition_variable& due = is_background ? background_due_ : due_;
  std::unique_lock lock(mutex_);
  while (true) {
    std::string owner;
    Work work;
    due.wait(lock, [&] { return stopping_ || take(is_background, owner, work); });
    if (!work) return;
    lock.unlock();
    work();
    work = {};
    lock.lock();
    --running_;
    const auto queue = queues_.find(owner);
    if (!is_background) --queue->second.ordinary;
    if (--queue->second.running == 0 && queue->second.waiting.empty()) queues_.erase(queue);
    idle_.notify_all();
    due_.notify_one();
    background_due_.notify_one();
  }
}

// One thread more than an owner may have: another one never waits for it alone. An owner who asks for several things
// at once has one of them at ordinary priority, so that who asks for one thing at a time does not notice the others. Bulk
// work takes long: it has as many threads as four owners can keep busy, and the system shares the processor among them.
WorkerPools::WorkerPools(std::size_t threads)
    : interactive_({.threads = threads + 1, .background_threads = threads, .per_owner = threads}),
      bulk_({.background_threads = 8, .per_owner = 2}),
      upstreams_({.threads = 4, .per_owner = 2}) {}

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
