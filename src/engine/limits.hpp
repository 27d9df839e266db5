// Limits of an owner, as requests see them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <tl/expected.hpp>

#include "engine/caller.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll::engine {

// Why a request is refused.
struct Refusal {
  enum class Kind : std::uint8_t { no_key, forbidden, limit, unavailable } kind = Kind::no_key;
  std::string code;
  std::string what;
  std::int64_t retry_after_seconds = 0;  // 0: do not retry
};

// The most that one request uses of its owner's limits.
struct Need {
  Tokens input = 0;
  Tokens answer = 0;               // including thinking
  bool answer_may_shrink = false;  // the request sets no limit
};

// What was reserved. Its end gives back what was not used.
class HeldShare {
 public:
  HeldShare() = default;
  HeldShare(const HeldShare&) = delete;
  HeldShare& operator=(const HeldShare&) = delete;
  virtual ~HeldShare() = default;

  // Charges what was used; once.
  virtual void settle(Tokens used) = 0;
};

// A part of the limits, reserved for one request until `held` is destroyed.
struct Share {
  Tokens answer = 0;  // at most the need
  std::shared_ptr<HeldShare> held{};
};

// Thread-safe.
using Reserve = std::function<tl::expected<Share, Refusal>(const Caller& caller, const Need& need)>;

// Estimates the tokens of a text that is not counted.
constexpr Tokens estimated_text_tokens(std::size_t bytes) {
  constexpr std::size_t bytes_per_token = 4;
  return static_cast<Tokens>(bytes / bytes_per_token);
}
// The same for a request of any kind. Capped, because a picture has many bytes and few tokens.
constexpr Tokens estimated_tokens(std::size_t bytes) {
  constexpr Tokens most = 32'768;
  return estimated_text_tokens(bytes) < most ? estimated_text_tokens(bytes) : most;
}

}  // namespace plimsoll::engine
