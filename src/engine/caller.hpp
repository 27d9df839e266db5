// Who asks.
#pragma once

#include <string>

namespace plimsoll::engine {

struct Caller {
  std::string owner = "local";    // of traces, sessions and usage: the key's id where there are keys
  std::string indexes = "local";  // whose indexes are seen: all share theirs unless a key has its own
  bool metered = false;           // tokens are limited: streams are asked for their usage
};

}  // namespace plimsoll::engine
