// Stops asking a server that fails again and again, for a while: whoever waits for it would wait in vain.
//
// A server that cannot be reached is left alone by everybody. What answers 502 to 504, breaks off or is too
// late may fail for one model or for one caller's requests alone, so that such failures count for that model
// and that caller: nobody is refused because of somebody else's requests.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

#include "models/upstreams.hpp"

namespace plimsoll::models {

// Any thread may call anything at any time.
class Breakers {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t most_kept = 4'096;  // models and callers; the least recent failure goes first

  enum class Failure : std::uint8_t {
    connection,  // the server cannot be reached
    reply,       // it can, and this request failed
  };

  // How long the model is not to be asked yet. None: it may be; after a pause, by one request at a time.
  std::optional<Clock::duration> closed_for(const ModelLocation& location, const std::string& owner,
                                            Clock::time_point now);
  // The same without taking the turn of the one request.
  bool is_closed(const ModelLocation& location, const std::string& owner, Clock::time_point now) const;
  void succeeded(const ModelLocation& location, const std::string& owner);
  void failed(const ModelLocation& location, const std::string& owner, Failure failure,
              Clock::time_point now);

 private:
  static constexpr int failures_in_a_row = 5;
  static constexpr std::chrono::seconds first_pause{2};
  static constexpr std::chrono::seconds longest_pause{60};

  struct State {
    int failures = 0;
    Clock::duration pause{};
    Clock::time_point until{};
    Clock::time_point failed_at{};
  };
  // Server, model and owner; both empty: the server itself.
  using Key = std::tuple<std::size_t, std::string, std::string>;
  static Key of_server(const ModelLocation& location) { return {location.member, {}, {}}; }
  static Key of_model(const ModelLocation& location, const std::string& owner) {
    return {location.member, location.model, owner};
  }
  std::optional<Clock::duration> left_locked(const Key& key, Clock::time_point now) const;
  void take_turn_locked(const Key& key, Clock::time_point now);
  void make_room_locked();

  mutable std::mutex mutex_;
  std::map<Key, State> states_;  // of those that failed last
};

}  // namespace plimsoll::models
