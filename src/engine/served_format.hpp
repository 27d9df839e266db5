// Rule U2: an Ollama renders chats by Go templates of its own. Once a model, its rendering of a few chats is
// compared with ours, letter by letter; where none of our formats is the same, each prompt is counted from
// what the server renders.
#pragma once

#include "engine/request_state.hpp"

namespace plimsoll::engine {

// Looks at what the server makes of the planned request, where that has to be looked at. True: it is not what
// was planned, and the request is to be planned once more with what was learned. A server that does not tell
// leaves the plan as it is, and not exact.
Awaitable<bool> differs_from_the_servers(Engine& engine, WorkerContext& worker, RequestState& state,
                                         Deadline deadline);

}  // namespace plimsoll::engine
