// Compresses a history that is too long for the window before a request is sent (F5).
//
// The oldest turns become one summary, many at a time. It is stored under the hash of the replaced turns: a
// client that sends its whole history again gets the same summary for the same turns, and so the same prefix.
// Turns with tools or images, system messages and the last turns are kept unchanged.
#pragma once

#include "engine/request_state.hpp"

namespace plimsoll::engine {

// Returns whether the request should be planned again with a shorter history: it exceeds F1's threshold or
// would leave turns out, and there are turns that a summary may replace.
bool compression_is_due(const Engine& engine, const RequestState& state);

// Replaces turns with a summary; the request must then be planned again. If no model answers in time, or
// `may_ask` is false, the summary is extractive. If no summary is worthwhile, the request is unchanged
// and is not tried again.
Awaitable<void> compress(Engine& engine, WorkerContext& worker, RequestState& state, bool may_ask,
                         Deadline deadline);

}  // namespace plimsoll::engine
