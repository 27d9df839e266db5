// The LimitStore of a gateway that is alone: limits in memory.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

#include "gateway/auth/bucket.hpp"
#include "plimsoll/keys.hpp"

namespace plimsoll::gateway {

// Never fails.
class MemoryLimits final : public LimitStore {
 public:
  // `now_ms`: UTC.
  explicit MemoryLimits(std::function<std::int64_t()> now_ms) : now_ms_(std::move(now_ms)) {}

  Result<std::vector<LimitDone>> work(std::span<const LimitStep> steps) override;

  // The key's usage of a day is at least this: it was used by other processes, or before the start.
  void learn_used(const std::string& owner, std::int64_t day, Tokens used);
  // As after a request that takes nothing.
  LimitState state(const std::string& owner, const KeyLimits& limits);

 private:
  struct Taken {
    Bucket requests, tokens;
    std::int64_t day = 0;
    Tokens used = 0, reserved = 0;  // on that day; reserved by running requests
  };
  LimitGrant done(const LimitWish& wish, std::int64_t now);
  LimitUsed done(const LimitUse& use, std::int64_t now);
  // The owner's row, on the day of `now`.
  Taken& taken(const std::string& owner, std::int64_t now);
  static LimitState state_of(Taken& taken, std::int64_t now);
  static void set_limits(Taken& taken, const KeyLimits& limits, std::int64_t now);

  const std::function<std::int64_t()> now_ms_;
  std::mutex mutex_;
  std::unordered_map<std::string, Taken> by_owner_;
};

}  // namespace plimsoll::gateway
