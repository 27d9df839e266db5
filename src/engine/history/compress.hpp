// Compresses a history that is too long for the window before a request is sent (F5).
//
// The oldest turns become one summary, many at a time. It is stored under the hash of the replaced turns: a
// client that sends its whole history again gets the same summary for the same turns, and so the same prefix.
// Turns with tools or images, system messages and the last turns are kept unchanged.
#pragma once

#include "engine/stages.hpp"

namespace plimsoll::engine {

// Returns whether the request should be planned again with a shorter history: it exceeds F1's threshold or
// would leave turns out, and there are turns that a summary may replace.
bool compression_is_due(const Engine& engine, const chat::ChatRequest& chat, const Attempt& attempt,
                        const Plan& plan);

// Returns whether turns of this request may still be replaced.
bool can_compress(const Engine& engine, const chat::ChatRequest& chat, const Attempt& attempt,
                  const Plan& plan);

// What a request is planned from next.
struct Prepared {
  Request request;  // its notes are of this step
  Attempt next;
};

// Replaces turns with a summary. `plan`: by which they are measured. If no model answers in time, or
// `may_ask` is false, the summary is extractive. If no summary is worthwhile, the request is unchanged
// and is not tried again.
Awaitable<Prepared> compress(Engine& engine, WorkerContext& worker, const Received& received, Request request,
                             Attempt attempt, const Plan& plan, bool may_ask, Deadline deadline);

}  // namespace plimsoll::engine
