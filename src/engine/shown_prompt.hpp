// The prompt as the model reads it, for people who plan.
#pragma once

#include "engine/stages.hpp"

namespace plimsoll::engine {

// Makes what is sent into text by the model's chat template. A long prompt is cut in the middle. Blocks if
// the model's window has to be asked for.
ShownPrompt shown_prompt(const Engine& engine, const Received& received, const Planned& planned,
                         Deadline deadline);

}  // namespace plimsoll::engine
