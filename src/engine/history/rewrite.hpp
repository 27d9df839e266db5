// A question that says little without the turns before it, said in full by a model, so that documents are
// searched for what it means: "Give me an example" becomes "Give me an example of npm prune".
#pragma once

#include "engine/request_state.hpp"

namespace plimsoll::engine {

// Where the rules want it, documents are looked into and the question depends on earlier turns. The model is
// asked once; where it does not answer in time, the words of the turns have to do (follow_up.hpp). What it
// writes is searched for beside the question's own words, and nothing else: the request stays as it is.
Awaitable<void> rewrite_question(Engine& engine, WorkerContext& worker, RequestState& state,
                                 Deadline deadline);

}  // namespace plimsoll::engine
