#include "models/breaker.hpp"

#include <algorithm>

namespace plimsoll::models {

std::optional<Breakers::Clock::duration> Breakers::left_locked(const Key& key, Clock::time_point now) const {
  const auto found = states_.find(key);
  if (found == states_.end() || found->second.failures < failures_in_a_row || now >= found->second.until)
    return std::nullopt;
  return found->second.until - now;
}

// After a pause, this request tries the server and others wait for the result.
void Breakers::take_turn_locked(const Key& key, Clock::time_point now) {
  const auto found = states_.find(key);
  if (found != states_.end() && found->second.failures >= failures_in_a_row)
    found->second.until = now + found->second.pause;
}

std::optional<Breakers::Clock::duration> Breakers::closed_for(const ModelLocation& location,
                                                              const std::string& owner,
                                                              Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (states_.empty()) return std::nullopt;
  const Key server = of_server(location), model = of_model(location, owner);
  const auto of_one = left_locked(server, now), of_other = left_locked(model, now);
  if (of_one || of_other) return std::max(of_one, of_other);  // an empty optional is the smallest
  take_turn_locked(server, now);
  take_turn_locked(model, now);
  return std::nullopt;
}

bool Breakers::is_closed(const ModelLocation& location, const std::string& owner,
                         Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  return left_locked(of_server(location), now) || left_locked(of_model(location, owner), now);
}

void Breakers::succeeded(const ModelLocation& location, const std::string& owner) {
  const std::lock_guard lock(mutex_);
  if (states_.empty()) return;
  states_.erase(of_server(location));
  states_.erase(of_model(location, owner));
}

void Breakers::not_asked(const ModelLocation& location, const std::string& owner, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  for (const Key& key : {of_server(location), of_model(location, owner)})
    if (const auto found = states_.find(key); found != states_.end())
      found->second.until = std::min(found->second.until, now);
}

void Breakers::failed(const ModelLocation& location, const std::string& owner, Failure failure,
                      Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (failure == Failure::reply) states_.erase(of_server(location));  // the server was reached
  const Key key = failure == Failure::connection ? of_server(location) : of_model(location, owner);
  if (!states_.contains(key)) make_room_locked();
  State& state = states_[key];
  state.failed_at = now;
  if (++state.failures < failures_in_a_row) return;
  state.pause = std::clamp<Clock::duration>(state.pause * 2, first_pause, longest_pause);
  state.until = now + state.pause;
}

void Breakers::make_room_locked() {
  if (states_.size() < most_kept) return;
  states_.erase(std::ranges::min_element(states_, {}, [](const auto& one) { return one.second.failed_at; }));
}

}  // namespace plimsoll::models
