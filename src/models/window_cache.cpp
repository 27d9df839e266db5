#include "models/window_cache.hpp"

#include <algorithm>
#include <tuple>

namespace plimsoll::models {
namespace {

// Clients may send any number of unknown model names, so the cache is bounded.
constexpr std::size_t most_entries = 10'000;

}  // namespace

WindowCache::WindowCache(Times times, std::function<Clock::time_point()> now)
    : times_(times), now_(std::move(now)) {
  times_.failure_believed = std::min(times_.failure_believed, times_.believed);
  times_.default_believed = std::min(times_.default_believed, times_.failure_believed);
  times_.silence_believed = std::min(times_.silence_believed, times_.default_believed);
}

std::chrono::seconds WindowCache::believed_for(const ModelReport& report) const {
  if (report.silent) return times_.silence_believed;
  if (!report.failed) return times_.believed;
  return report.window.source == WindowSource::assumed ? times_.default_believed : times_.failure_believed;
}

WindowCache::Found WindowCache::find_locked(KeyView key) const {
  const auto stored = stored_.find(key);
  if (stored == stored_.end() || now_() >= stored->second.ask_again) return nullptr;
  return stored->second.found;
}

WindowCache::Found WindowCache::find(std::string_view upstream, std::string_view model) const {
  const std::shared_lock lock(mutex_);
  return find_locked({upstream, model});
}

// Ends a request on every exit path.
class WindowCache::Landing {
 public:
  Landing(WindowCache& cache, KeyView key, std::shared_ptr<Flight> flight, std::uint64_t generation)
      : cache_(cache), key_(key), flight_(std::move(flight)), generation_(generation) {}
  Landing(const Landing&) = delete;
  Landing& operator=(const Landing&) = delete;

  ~Landing() {
    {
      const std::unique_lock lock(cache_.mutex_);
      if (found_ && is_new_ && cache_.generation_ == generation_) cache_.store_locked(key_, found_, {});
      const auto under_way = cache_.flights_.find(key_);
      if (under_way != cache_.flights_.end() && under_way->second == flight_)
        cache_.flights_.erase(under_way);
    }
    const std::lock_guard lock(flight_->mutex);
    flight_->found = std::move(found_);
    flight_->done = true;
    flight_->landed.notify_all();
  }

  void with(Found found, bool is_new) {
    found_ = std::move(found);
    is_new_ = is_new;
  }

 private:
  WindowCache& cache_;
  KeyView key_;
  std::shared_ptr<Flight> flight_;
  std::uint64_t generation_;
  Found found_;
  bool is_new_ = true;
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
  Found found = std::make_shared<const ModelReport>(ask());
  const Found earlier = found->silent ? unconfirmed_for_now(key) : nullptr;
  if (earlier) found = earlier;
  landing.with(found, /*is_new=*/!earlier);
  return found;
}

// Returns the entry of an earlier run if it is recent; the server is asked again after a short time.
WindowCache::Found WindowCache::unconfirmed_for_now(KeyView key) {
  const std::unique_lock lock(mutex_);
  const auto stored = stored_.find(key);
  if (stored == stored_.end() || now_() >= stored->second.until || stored->second.found->failed)
    return nullptr;
  stored->second.ask_again = std::min(now_() + times_.silence_believed, stored->second.until);
  return stored->second.found;
}

void WindowCache::store_locked(KeyView key, Found found, Clock::duration age, bool confirmed) {
  const Clock::time_point since = now_() - age;
  const Clock::time_point until = since + believed_for(*found);
  if (until <= now_()) return;
  Stored stored{std::move(found), since, until, confirmed ? until : now_()};
  if (const auto old = stored_.find(key); old != stored_.end()) {
    old->second = std::move(stored);
    return;
  }
  if (stored_.size() >= most_entries) make_room_locked();
  stored_.emplace(Key{std::string(key.upstream), std::string(key.model)}, std::move(stored));
}

// Removes expired entries; if there are none, the one that expires first.
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

void WindowCache::put_unconfirmed(std::string_view upstream, std::string_view model, Found found,
                                  Clock::duration age) {
  const std::unique_lock lock(mutex_);
  store_locked({upstream, model}, std::move(found), age, /*confirmed=*/false);
}

void WindowCache::forget_failure(std::string_view upstream, std::string_view model) {
  forget_where({upstream, model}, &ModelReport::failed);
}

void WindowCache::forget_silence(std::string_view upstream, std::string_view model) {
  forget_where({upstream, model}, &ModelReport::silent);
}

void WindowCache::forget_where(KeyView key, bool ModelReport::*what) {
  {
    const std::shared_lock lock(mutex_);
    const auto stored = stored_.find(key);
    if (stored == stored_.end() || !((*stored->second.found).*what)) return;
  }
  const std::unique_lock lock(mutex_);
  const auto stored = stored_.find(key);
  if (stored != stored_.end() && (*stored->second.found).*what) stored_.erase(stored);
}

bool WindowCache::forget_if_older(std::string_view upstream, std::string_view model, Clock::duration age) {
  const std::unique_lock lock(mutex_);
  const auto stored = stored_.find(KeyView{upstream, model});
  if (stored == stored_.end() || now_() - stored->second.since < age) return false;
  stored_.erase(stored);
  return true;
}

void WindowCache::forget(std::string_view model) {
  const std::unique_lock lock(mutex_);
  std::erase_if(stored_, [&](const auto& one) { return one.first.model == model; });
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

}  // namespace plimsoll::models
