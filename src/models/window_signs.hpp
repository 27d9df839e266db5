// Windows that servers report when they refuse a request, and for which owners they count.
//
// A refusal concerns one request of one owner, and its text may contain words that the request planted. So a
// window counts for an owner after two of its requests were refused with it, and for all owners after
// requests of two owners were; for ten minutes. It is not written to disk. A window that is smaller than a
// recently accepted prompt is ignored.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>

#include "models/upstreams.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll::models {

// Times are UTC milliseconds. Thread-safe.
class WindowSigns {
 public:
  static constexpr std::int64_t believed_ms = std::int64_t{10} * 60 * 1000;
  static constexpr Tokens least_believed = 256;  // no server has less
  static constexpr std::size_t most_models = 1'000;
  static constexpr std::size_t most_signs = 16;  // per model; the oldest are dropped

  // Call when the server refused this request and reported its window. False: not plausible.
  bool refused(const ModelLocation& location, const std::string& owner, std::string_view request,
               Tokens window, std::int64_t now_ms);
  // Call when the server accepted a prompt of this many tokens.
  void accepted(const ModelLocation& location, Tokens input, std::int64_t now_ms);
  // Returns the newest window that counts for this owner.
  std::optional<Tokens> window_for(const ModelLocation& location, const std::string& owner,
                                   std::int64_t now_ms) const;
  // Forgets a model, or all if empty.
  void forget(std::string_view model);

 private:
  struct Sign {
    std::string owner;
    std::size_t request = 0;  // a hash
    Tokens window = 0;
    std::int64_t at_ms = 0;
  };
  struct Heard {
    std::deque<Sign> signs;  // oldest first
    Tokens accepted = 0;
    std::int64_t accepted_ms = 0;
    std::int64_t at_ms = 0;  // of the last report
  };
  using Key = std::pair<std::size_t, std::string>;
  Heard& heard_of(const ModelLocation& location, std::int64_t now_ms);

  mutable std::shared_mutex mutex_;
  std::map<Key, Heard> heard_;
};

}  // namespace plimsoll::models
