// Circuit breakers: stops sending requests to a server that fails repeatedly, for a while.
//
// A server that cannot be reached is blocked for all callers. Replies 502 to 504, broken connections and
// timeouts may concern only one model or one caller, so they count only for that model and that
// caller: no caller is refused because of another's requests.
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

// Thread-safe.
class Breakers {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t most_kept = 4'096;  // models and callers; the oldest failure is dropped first

  enum class Failure : std::uint8_t {
    connection,  // the server cannot be reached
    reply,       // the server was reached, but the request failed
  };

  // Returns how long the model is still blocked. None: not blocked; after a pause, one request at a time may
  // try.
  std::optional<Clock::duration> closed_for(const ModelLocation& location, const std::string& owner,
                                            Clock::time_point now);
  // The same, without claiming the try.
  bool is_closed(const ModelLocation& location, const std::string& owner, Clock::time_point now) const;
  void succeeded(const ModelLocation& location, const std::string& owner);
  // The request was not sent: the next one may try.
  void not_asked(const ModelLocation& location, const std::string& owner, Clock::time_point now);
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
  std::map<Key, State> states_;  // recent failures
};

}  // namespace plimsoll::models
