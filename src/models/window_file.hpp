// Stores found windows in a file, for short-lived commands.
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

// Writes the newest entries first, up to a limit.
std::string write_windows(std::vector<KeptWindow> windows);

// damaged: not a complete windows file, or its checksum is wrong. unsupported: of another version.
Result<std::vector<KeptWindow>> read_windows(std::string_view text);

}  // namespace plimsoll::models
