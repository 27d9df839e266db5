// The models as one attempt at a request sees them.
#pragma once

#include "engine/stages.hpp"

namespace plimsoll::engine {

inline models::RequestModels models_for(const Engine& engine, const Received& received,
                                        const Attempt& attempt, Deadline deadline) {
  return models::RequestModels(engine.models, deadline,
                               {.owner = received.owner(),
                                .most = received.ask.window_wish,
                                .with_override = !attempt.stand_in,
                                .with_learned = attempt.with_learned,
                                .told = attempt.told_window});
}

}  // namespace plimsoll::engine
