// The found windows as a file, for programs that end before the next question: the command line.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "models/window_cache.hpp"

namespace plimsoll::models {

struct KeptWindow {
  std::string upstream;  // the upstream's cache key
  std::string model;
  std::int64_t found_at = 0;  // seconds since 1970, UTC
  ModelReport report;
};

// The newest first, and no more of them than anybody has models.
std::string write_windows(std::vector<KeptWindow> windows);

// damaged where it is not such a file, whole and of this version.
Result<std::vector<KeptWindow>> read_windows(std::string_view text);

}  // namespace plimsoll::models
