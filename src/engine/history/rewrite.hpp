// Lets a model rewrite a question that depends on earlier turns, so that documents are searched for its
// meaning: "Give me an example" becomes "Give me an example of npm prune".
#pragma once

#include "engine/request_state.hpp"

namespace plimsoll::engine {

// Runs if the rules enable it, the request has documents and the question depends on earlier turns. The model
// is asked once; if it does not answer in time, words of earlier turns are used (follow_up.hpp). Its text is
// only searched, together with the question's own words; the request is not changed.
Awaitable<void> rewrite_question(Engine& engine, WorkerContext& worker, RequestState& state,
                                 Deadline deadline);

}  // namespace plimsoll::engine
