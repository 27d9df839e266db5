// The client of a request.
#pragma once

#include <string>

#include "plimsoll/trace.hpp"

namespace plimsoll::engine {

struct Caller {
  std::string owner = "local";    // of traces, sessions and usage: the id of the API key, if there are keys
  std::string indexes = "local";  // owner of the visible indexes: shared by all keys unless a key has its own
  bool metered = false;           // tokens are limited: request usage for streams
  TraceContext context{};         // the client's own trace, if it told one
};

}  // namespace plimsoll::engine
