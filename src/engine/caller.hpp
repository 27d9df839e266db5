// The client of a request.
#pragma once

#include <memory>
#include <string>

#include "plimsoll/trace.hpp"

namespace plimsoll::engine {

// A request that its owner's limits do not count yet. The first reservation counts it, or else its end.
class Uncounted {
 public:
  Uncounted() = default;
  Uncounted(const Uncounted&) = delete;
  Uncounted& operator=(const Uncounted&) = delete;
  virtual ~Uncounted() = default;
};

struct Caller {
  std::string owner = "local";    // of traces, sessions and usage: the id of the API key, if there are keys
  std::string indexes = "local";  // owner of the visible indexes: shared by all keys unless a key has its own
  bool metered = false;           // tokens are limited: request usage for streams
  std::shared_ptr<Uncounted> uncounted{};  // none: it is counted
  TraceContext context{};                  // the client's own trace, if it told one
};

}  // namespace plimsoll::engine
