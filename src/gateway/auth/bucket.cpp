#include "gateway/auth/bucket.hpp"

#include <algorithm>
#include <cmath>

namespace plimsoll::gateway {
namespace {

constexpr std::int64_t minute_ms = 60'000;

}  // namespace

void Bucket::limit(std::int64_t per_minute, std::int64_t now_ms) {
  const bool first = per_minute_ == 0;
  if (!first) fill(now_ms);
  per_minute_ = per_minute;
  const auto most = static_cast<double>(per_minute);
  level_ = first ? most : std::min(level_, most);
  at_ms_ = now_ms;
}

void Bucket::fill(std::int64_t now_ms) {
  // If the clock was set back, no time passes.
  const auto passed = static_cast<double>(std::max<std::int64_t>(0, now_ms - at_ms_));
  const auto most = static_cast<double>(per_minute_);
  level_ = std::min(most, level_ + passed * most / minute_ms);
  at_ms_ = now_ms;
}

std::int64_t Bucket::wait_ms(std::int64_t amount, std::int64_t now_ms) {
  if (!is_limited()) return 0;
  fill(now_ms);
  const auto most = static_cast<double>(per_minute_);
  const double missing = std::min(static_cast<double>(amount), most) - level_;
  // Less than a thousandth is a rounding error.
  return missing <= 1e-3 ? 0 : static_cast<std::int64_t>(std::ceil(missing * minute_ms / most));
}

std::int64_t Bucket::left(std::int64_t now_ms) {
  fill(now_ms);
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(level_ + 1e-3));
}

void Bucket::give_back(std::int64_t amount) {
  level_ = std::min(static_cast<double>(per_minute_), level_ + static_cast<double>(amount));
}

}  // namespace plimsoll::gateway
