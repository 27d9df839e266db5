// Copies indexes between stores: `plimsoll index copy`.
#pragma once

#include <string>
#include <vector>

#include "config/settings.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll {

struct IndexCopyOptions {
  std::string from, to;
  std::vector<std::string> names;  // none: all
  std::string as;                  // the name in the target, for one index
  std::string key;                 // its private indexes; empty: those without a key
  bool replace = false, quiet = false, json = false;
};

// Returns the exit status.
Result<int> copy_indexes(const config::Settings& settings, const IndexCopyOptions& options);

}  // namespace plimsoll
