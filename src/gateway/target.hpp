// What stands behind the method in a request's first line.
#pragma once

#include <string>
#include <string_view>

namespace plimsoll::gateway {

struct Target {
  std::string path;   // decoded; what is badly encoded stays as it is
  std::string query;  // as it came, without the question mark
};

// Also of the absolute form, as a client sends it to a proxy.
Target split_target(std::string_view target);

}  // namespace plimsoll::gateway
