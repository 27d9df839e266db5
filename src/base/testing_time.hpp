// Measures time in tests that check for linear growth.
#pragma once

#include <ctime>

#include "base/sanitized.hpp"

namespace plimsoll::base {

// Returns the CPU time of this process, which does not depend on other load.
inline double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Far more than linear work takes, far less than quadratic work.
inline constexpr double soon_seconds = sanitized ? 100 : 20;

}  // namespace plimsoll::base
