// Lets a model rewrite a question that depends on earlier turns, so that documents are searched for its
// meaning: "Give me an example" becomes "Give me an example of npm prune".
#pragma once

#include "engine/stages.hpp"

namespace plimsoll::engine {

struct Rewritten {
  std::string question{};  // empty: it is used as it is
  Notes notes{};
};

// Runs if the rules enable it, the request has documents and the question depends on earlier turns. The model
// is asked once; if it does not answer in time, words of earlier turns are used (follow_up.hpp). Its text is
// only searched, together with the question's own words; the request is not changed.
Awaitable<Rewritten> rewrite_question(const Engine& engine, WorkerContext& worker, const Received& received,
                                      const Request& request, const Attempt& attempt, Deadline deadline);

}  // namespace plimsoll::engine
