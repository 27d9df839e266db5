// Detects that the client of a coroutine has disconnected.
#pragma once

#include "plimsoll/http_stream.hpp"

namespace plimsoll::engine {

// Returns whether the coroutine was cancelled. A wait that was cancelled returns an error, and later waits do
// not: a coroutine that goes on asks first.
Awaitable<bool> client_is_gone();

}  // namespace plimsoll::engine
