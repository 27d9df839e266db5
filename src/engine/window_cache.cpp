#include "engine/window_cache.hpp"

#include <algorithm>
#include <tuple>

namespace plimsoll::engine {
namespace {

// A client may name models that do not exist for ever; what is remembered of them has an end.
constexpr std::size_t most_entries = 10'000;

}  // namespace

WindowCache::WindowCache(Times times, std::function<Clock::time_point()> now)
    : times_(times), now_(std::move(now)) {
  times_.failure_believed = std::min(times_.failure_believed, times_.believed);
}

WindowCache::Found WindowCache::find_locked(KeyView key) const {
  const auto stored = stored_.find(key);
  if (stored == stored_.end() || now_() >= stored->second.until) return nullptr;
  return stored->second.found;
}

WindowCache::Found WindowCache::find(std::string_view upstream, std::string_view model) const {
  const std::shared_lock lock(mutex_);
  return find_locked({upstream, model});
}

// Ends a question however it is left.
class WindowCache::Landing {
 public:
  Landing(WindowCache& cache, KeyView key, std::shared_ptr<Flight> flight, std::uint64_t generation)
      : cache_(cache), key_(key), flight_(std::move(flight)), generation_(generation) {}
  Landing(const Landing&) = delete;
  Landing& operator=(const Landing&) = delete;

  ~Landing() {
    {
      const std::unique_lock lock(cache_.mutex_);
      if (found_ && cache_.generation_ == generation_) cache_.store_locked(key_, found_, {});
      const auto under_way = cache_.flights_.find(key_);
      if (under_way != cache_.flights_.end() && under_way->second == flight_)
        cache_.flights_.erase(under_way);
    }
    const std::lock_guard lock(flight_->mutex);
    flight_->found = std::move(found_);
    flight_->done = true;
    flight_->landed.notify_all();
  }

  void with(Found found) { found_ = std::move(found); }

 private:
  WindowCache& cache_;
  KeyView key_;
  std::shared_ptr<Flight> flight_;
  std::uint64_t generation_;
  Found found_;
};

WindowCache::Found WindowCache::get(std::string_view upstream, std::string_view model, Deadline deadline,
                                    const std::function<ModelReport()>& ask) {
  const KeyView key{upstream, model};
  if (Found hit = find(upstream, model)) return hit;
  std::shared_ptr<Flight> flight;
  bool mine = false;
  std::uint64_t generation = 0;
  {
    const std::unique_lock lock(mutex_);
    if (Found hit = find_locked(key)) return hit;
    generation = generation_;
    if (const auto under_way = flights_.find(key); under_way != flights_.end()) {
      flight = under_way->second;
    } else {
      mine = true;
      flight = std::make_shared<Flight>();
      flights_.emplace(Key{std::string(upstream), std::string(model)}, flight);
    }
  }
  if (!mine) {
    std::unique_lock lock(flight->mutex);
    flight->landed.wait_until(lock, deadline.moment(), [&] { return flight->done; });
    return flight->found;
  }
  Landing landing(*this, key, flight, generation);
  auto found = std::make_shared<const ModelReport>(ask());
  landing.with(found);
  return found;
}

void WindowCache::store_locked(KeyView key, Found found, Clock::duration age) {
  const Clock::time_point since = now_() - age;
  const Clock::time_point until = since + (found->failed ? times_.failure_believed : times_.believed);
  if (until <= now_()) return;
  Stored stored{std::move(found), since, until};
  if (const auto old = stored_.find(key); old != stored_.end()) {
    old->second = std::move(stored);
    return;
  }
  if (stored_.size() >= most_entries) make_room_locked();
  stored_.emplace(Key{std::string(key.upstream), std::string(key.model)}, std::move(stored));
}

// What is believed no longer goes; if that is nothing, what would go first.
void WindowCache::make_room_locked() {
  const Clock::time_point now = now_();
  if (std::erase_if(stored_, [&](const auto& one) { return one.second.until <= now; }) > 0) return;
  const auto first = std::ranges::min_element(stored_, {}, [](const auto& one) { return one.second.until; });
  if (first != stored_.end()) stored_.erase(first);
}

void WindowCache::put(std::string_view upstream, std::string_view model, Found found, Clock::duration age) {
  const std::unique_lock lock(mutex_);
  store_locked({upstream, model}, std::move(found), age);
}

void WindowCache::clear() {
  const std::unique_lock lock(mutex_);
  stored_.clear();
  flights_.clear();
  ++generation_;
}

std::vector<WindowCache::Entry> WindowCache::entries() const {
  std::vector<Entry> all;
  const std::shared_lock lock(mutex_);
  const Clock::time_point now = now_();
  for (const auto& [key, stored] : stored_)
    if (now < stored.until) all.push_back({key.upstream, key.model, stored.found, now - stored.since});
  std::ranges::sort(all, {}, [](const Entry& entry) { return std::tie(entry.upstream, entry.model); });
  return all;
}

}  // namespace plimsoll::engine
