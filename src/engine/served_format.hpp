// Rule U2: Ollama renders chats with its own Go templates. Once per model, its rendering of a few chats is
// compared with ours, byte by byte; if none of our formats matches, each prompt is counted from
// the server's rendering.
#pragma once

#include "engine/request_state.hpp"

namespace plimsoll::engine {

// Compares the server's rendering with the planned request, if necessary. True: they differ, and the request
// must be planned again with the new count. If the server cannot show its rendering, the plan stays and is
// not exact.
Awaitable<bool> differs_from_the_servers(Engine& engine, WorkerContext& worker, RequestState& state,
                                         Deadline deadline);

}  // namespace plimsoll::engine
