// Rule U2: Ollama renders chats with its own Go templates. Once per model, its rendering of a few chats is
// compared with ours, byte by byte; if none of our formats matches, each prompt is counted from
// the server's rendering.
#pragma once

#include "engine/stages.hpp"

namespace plimsoll::engine {

// A plan with the input that the server counts.
struct Compared {
  Planned planned;
  std::optional<Replan> again{};  // the server's rendering is longer, and the request must be planned again
  Notes notes{};
};

// Compares the server's rendering with the planned request, if necessary. If the server cannot show its
// rendering, the plan stays and is not exact.
Awaitable<Compared> compare_rendering(const Engine& engine, WorkerContext& worker, const Received& received,
                                      const Request& request, const Attempt& attempt, Planned planned,
                                      Deadline deadline);

}  // namespace plimsoll::engine
