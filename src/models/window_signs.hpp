// What servers say of their windows when they refuse a request, and who may rely on it.
//
// A refusal is the server's word about one request of one owner, and part of it may be words that the request
// planted. So a window counts for an owner when two of its requests were refused with it, for everybody when
// requests of two owners were, and for ten minutes. It is not written to disk. A window is not believed that
// is smaller than what the server has read not long ago.
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

// Times are UTC milliseconds. Any thread may call anything at any time.
class WindowSigns {
 public:
  static constexpr std::int64_t believed_ms = std::int64_t{10} * 60 * 1000;
  static constexpr Tokens least_believed = 256;  // no server of today has less
  static constexpr std::size_t most_models = 1'000;
  static constexpr std::size_t most_signs = 16;  // of a model; the oldest go

  // The server refused this request and named the window. False: that is not plausible.
  bool refused(const ModelLocation& location, const std::string& owner, std::string_view request,
               Tokens window, std::int64_t now_ms);
  // The server has read a prompt of so many tokens.
  void accepted(const ModelLocation& location, Tokens input, std::int64_t now_ms);
  // The newest window that this owner may rely on.
  std::optional<Tokens> window_for(const ModelLocation& location, const std::string& owner,
                                   std::int64_t now_ms) const;
  // Of a model, or of all where it is empty.
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
    std::int64_t at_ms = 0;  // when anything was heard last
  };
  using Key = std::pair<std::size_t, std::string>;
  Heard& heard_of(const ModelLocation& location, std::int64_t now_ms);

  mutable std::shared_mutex mutex_;
  std::map<Key, Heard> heard_;
};

}  // namespace plimsoll::models
