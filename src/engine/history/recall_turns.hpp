// Brings back turns that left the window: of those that a plan does not send, the ones that answer the
// question are added to it, or parts of them.
#pragma once

#include "engine/history/compress.hpp"

namespace plimsoll::engine {

// Returns whether the plan leaves out turns that have not been looked through for this request.
bool recall_is_due(const Engine& engine, const chat::ChatRequest& chat, const Attempt& attempt,
                   const Plan& plan);

// Looks through them. Their vectors are computed and kept with the session as far as the time allows. If
// nothing is found, the request is unchanged.
Awaitable<Prepared> recall_turns(const Engine& engine, WorkerContext& worker, const Received& received,
                                 Request request, Attempt attempt, const Plan& plan, Deadline deadline);

}  // namespace plimsoll::engine
