// How long a test's work took, for the tests that nothing grows out of proportion.
#pragma once

#include <ctime>

#include "base/sanitized.hpp"

namespace plimsoll::base {

// The processor's time of this process: a machine that others use makes it no longer.
inline double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Far more than work in proportion takes, far less than work out of it.
inline constexpr double soon_seconds = sanitized ? 100 : 20;

}  // namespace plimsoll::base
