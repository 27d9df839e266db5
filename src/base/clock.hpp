// The current time.
#pragma once

#include <chrono>
#include <cstdint>

namespace plimsoll::base {

// Milliseconds since 1970, UTC.
inline std::int64_t utc_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace plimsoll::base
