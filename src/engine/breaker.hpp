// Stops asking a server that fails again and again, for a while: whoever waits for it would wait in vain.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <vector>

namespace plimsoll::engine {

// One for each server, any thread.
class Breakers {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Breakers(std::size_t servers) : state_(servers) {}

  // How long the server is not to be asked yet. None: it may be; after a pause, by one request at a time.
  std::optional<Clock::duration> closed_for(std::size_t server, Clock::time_point now);
  // The same without taking the turn of the one request.
  bool is_closed(std::size_t server, Clock::time_point now);
  void succeeded(std::size_t server);
  void failed(std::size_t server, Clock::time_point now);

 private:
  static constexpr int failures_in_a_row = 5;
  static constexpr std::chrono::seconds first_pause{2};
  static constexpr std::chrono::seconds longest_pause{60};

  struct State {
    int failures = 0;
    Clock::duration pause{};
    Clock::time_point until{};
  };
  std::mutex mutex_;
  std::vector<State> state_;
};

}  // namespace plimsoll::engine
