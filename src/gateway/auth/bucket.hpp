// A rate limit per minute (token bucket).
#pragma once

#include <cstdint>

namespace plimsoll::gateway {

// Fills at a rate per minute, up to one minute's amount. Taking more leaves a debt that must be refilled
// first.
class Bucket {
 public:
  // 0: no limit. A bucket that gets its first limit is full.
  void limit(std::int64_t per_minute, std::int64_t now_ms);
  bool is_limited() const { return per_minute_ > 0; }
  std::int64_t per_minute() const { return per_minute_; }
  // Returns the time until this amount, or a full bucket, is available; 0: now.
  std::int64_t wait_ms(std::int64_t amount, std::int64_t now_ms);
  std::int64_t left(std::int64_t now_ms);
  void take(std::int64_t amount) { level_ -= static_cast<double>(amount); }
  void give_back(std::int64_t amount);

 private:
  void fill(std::int64_t now_ms);

  std::int64_t per_minute_ = 0;
  double level_ = 0;
  std::int64_t at_ms_ = 0;
};

}  // namespace plimsoll::gateway
