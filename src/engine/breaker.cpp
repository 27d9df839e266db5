#include "engine/breaker.hpp"

#include <algorithm>

namespace plimsoll::engine {

std::optional<Breakers::Clock::duration> Breakers::closed_for(std::size_t server, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  State& state = state_[server];
  if (state.failures < failures_in_a_row) return std::nullopt;
  if (now < state.until) return state.until - now;
  state.until = now + state.pause;  // this one tries; the others wait for what comes of it
  return std::nullopt;
}

bool Breakers::is_closed(std::size_t server, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const State& state = state_[server];
  return state.failures >= failures_in_a_row && now < state.until;
}

void Breakers::succeeded(std::size_t server) {
  const std::lock_guard lock(mutex_);
  state_[server] = {};
}

void Breakers::failed(std::size_t server, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  State& state = state_[server];
  if (++state.failures < failures_in_a_row) return;
  state.pause = std::clamp<Clock::duration>(state.pause * 2, first_pause, longest_pause);
  state.until = now + state.pause;
}

}  // namespace plimsoll::engine
