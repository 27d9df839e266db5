#include "gateway/auth/limit_queue.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/log.hpp"

namespace plimsoll::gateway {

LimitQueue::LimitQueue(std::shared_ptr<LimitStore> store, Settled settled, LimitQueueOptions options)
    : store_(std::move(store)), options_(options), settled_(std::move(settled)), thread_([this] { run(); }) {}

LimitQueue::~LimitQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  due_.notify_all();
  thread_.join();
  if (owed_ > 0)
    log::error("usage was not settled before the end; what was reserved for it stays counted today",
               {{"requests", owed_}});
}

Result<LimitGrant> LimitQueue::take(const LimitWish& wish) {
  Taker me;
  std::unique_lock lock(mutex_);
  waiting_.push_back({wish, &me});
  while (!me.grant) {
    if (is_busy_)
      me.wake.wait(lock);
    else
      work(lock);
  }
  return *std::move(me.grant);
}

void LimitQueue::settle(LimitShare share, Tokens used) {
  add(LimitUse{std::move(share), used});
}

void LimitQueue::count(LimitWish wish) {
  add(std::move(wish));
}

void LimitQueue::add(LimitStep step) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back({std::move(step)});
  if (++owed_ > options_.most_waiting) add_up();
  if (owed_ == 1) due_.notify_one();
}

// Seconds and uncounted requests are lost: after so long an outage their minute has passed.
void LimitQueue::add_up() {
  std::map<std::pair<std::string, std::int64_t>, LimitUse> sums;  // by owner and day
  std::deque<Entry> still;
  for (Entry& entry : waiting_) {
    const auto* use = std::get_if<LimitUse>(&entry.step);
    if (use == nullptr) {
      if (entry.taker != nullptr) still.push_back(std::move(entry));
      continue;
    }
    LimitUse& sum = sums[{use->share.owner, use->share.day}];
    sum.share.owner = use->share.owner;
    sum.share.day = use->share.day;
    sum.share.of_day = add_used(sum.share.of_day, use->share.of_day);
    sum.used = add_used(sum.used, use->used);
  }
  waiting_ = std::move(still);
  for (auto& [whose, sum] : sums) waiting_.push_front({std::move(sum)});
  owed_ = sums.size();
}

bool LimitQueue::work(std::unique_lock<std::mutex>& lock) {
  std::vector<LimitStep> steps;
  std::vector<Taker*> takers;
  for (; !waiting_.empty() && steps.size() < options_.most_steps; waiting_.pop_front()) {
    steps.push_back(std::move(waiting_.front().step));
    takers.push_back(waiting_.front().taker);
    if (takers.back() == nullptr) --owed_;
  }
  is_busy_ = true;
  lock.unlock();
  auto done = store_->work(steps);
  if (done) {
    const std::lock_guard telling(telling_);
    for (std::size_t i = 0; i < steps.size() && settled_; ++i)
      if (const auto* use = std::get_if<LimitUse>(&steps[i]))
        settled_(use->share.owner, std::get<LimitUsed>((*done)[i]));
  }
  lock.lock();
  is_busy_ = false;
  for (std::size_t i = steps.size(); i-- > 0;) {
    if (done && takers[i] != nullptr) {
      takers[i]->grant.emplace(std::get<LimitGrant>(std::move((*done)[i])));
      takers[i]->wake.notify_one();
    } else if (!done) {
      waiting_.push_front({std::move(steps[i]), takers[i]});
    }
  }
  if (!done) give_up(done.error());
  hand_on();
  return done.has_value();
}

// What is owed stays, and may be more than one round trip takes; requests that wait behind it fail with it.
void LimitQueue::give_up(const Error& error) {
  std::deque<Entry> owed;
  for (Entry& entry : waiting_) {
    if (entry.taker == nullptr) {
      owed.push_back(std::move(entry));
      continue;
    }
    entry.taker->grant.emplace(tl::unexpected<Error>(error));
    entry.taker->wake.notify_one();
  }
  waiting_ = std::move(owed);
  owed_ = waiting_.size();
  if (owed_ > 0) due_.notify_one();
}

void LimitQueue::hand_on() {
  const auto next = std::ranges::find_if(waiting_, [](const Entry& entry) { return entry.taker != nullptr; });
  if (next != waiting_.end())
    next->taker->wake.notify_one();
  else if (stopping_)
    due_.notify_one();
}

void LimitQueue::stop_telling() {
  const std::lock_guard lock(telling_);
  settled_ = nullptr;
}

std::size_t LimitQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return owed_;
}

void LimitQueue::run() {
  std::optional<Clock::time_point> last_try;
  std::unique_lock lock(mutex_);
  while (true) {
    due_.wait(lock, [&] { return stopping_ || owed_ > 0; });
    if (stopping_ && !last_try) last_try = Clock::now() + options_.at_end;
    if (owed_ == 0 && stopping_) return;
    // A request that comes meanwhile takes it along.
    due_.wait_for(lock, options_.patience, [&] { return stopping_; });
    if (stopping_) due_.wait(lock, [&] { return !is_busy_; });
    if (is_busy_ || owed_ == 0 || work(lock)) continue;
    if (last_try && Clock::now() >= *last_try) return;
    due_.wait_for(lock, options_.between_tries, [&] { return stopping_ && !last_try; });
  }
}

}  // namespace plimsoll::gateway
