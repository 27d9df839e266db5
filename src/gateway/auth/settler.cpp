#include "gateway/auth/settler.hpp"

#include <map>
#include <optional>
#include <utility>

#include "base/log.hpp"

namespace plimsoll::gateway {

Settler::Settler(std::shared_ptr<LimitStore> store, Settled settled, SettlerOptions options)
    : store_(std::move(store)), options_(options), settled_(std::move(settled)), thread_([this] { run(); }) {}

Settler::~Settler() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  due_.notify_all();
  thread_.join();
  if (!waiting_.empty())
    log::error("usage was not settled before the end; what was reserved for it stays counted today",
               {{"requests", waiting_.size()}});
}

void Settler::add(LimitShare share, Tokens used) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::move(share), used});
    if (waiting_.size() > options_.most_waiting) add_up();
  }
  due_.notify_one();
}

// Seconds are lost: after so long an outage the minute has passed.
void Settler::add_up() {
  std::map<std::pair<std::string, std::int64_t>, Entry> sums;  // by owner and day
  for (Entry& entry : waiting_) {
    Entry& sum = sums[{entry.share.owner, entry.share.day}];
    sum.share.owner = entry.share.owner;
    sum.share.day = entry.share.day;
    sum.share.of_day = add_used(sum.share.of_day, entry.share.of_day);
    sum.used = add_used(sum.used, entry.used);
  }
  waiting_.clear();
  for (auto& [whose, sum] : sums) waiting_.push_back(std::move(sum));
}

bool Settler::settle(const Entry& entry) {
  const auto settled = store_->settle(entry.share, entry.used);
  if (!settled) return false;
  const std::lock_guard lock(telling_);
  if (settled_) settled_(entry.share.owner, *settled);
  return true;
}

void Settler::settle_now(const std::string& owner) {
  std::deque<Entry> mine;
  {
    const std::lock_guard lock(mutex_);
    std::deque<Entry> others;
    for (Entry& entry : waiting_) (entry.share.owner == owner ? mine : others).push_back(std::move(entry));
    waiting_ = std::move(others);
  }
  while (!mine.empty() && settle(mine.front())) mine.pop_front();
  if (mine.empty()) return;
  const std::lock_guard lock(mutex_);
  waiting_.insert(waiting_.begin(), mine.begin(), mine.end());
}

void Settler::stop_telling() {
  const std::lock_guard lock(telling_);
  settled_ = nullptr;
}

std::size_t Settler::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

void Settler::run() {
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> last_try;
  std::unique_lock lock(mutex_);
  while (true) {
    due_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (stopping_ && !last_try) last_try = Clock::now() + options_.at_end;
    if (waiting_.empty()) {
      if (stopping_) return;
      continue;
    }
    const Entry entry = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    const bool done = settle(entry);
    lock.lock();
    if (done) continue;
    waiting_.push_front(entry);
    if (last_try && Clock::now() >= *last_try) return;
    due_.wait_for(lock, options_.between_tries, [&] { return stopping_ && !last_try; });
  }
}

}  // namespace plimsoll::gateway
