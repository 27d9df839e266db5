// History that is too long for the window made short before a request goes out (F5).
//
// The oldest turns become one summary, many at a time. It is kept by the hash of what it replaces: a client
// that sends its whole history again gets the same summary for the same beginning, and so the same prefix.
// Turns with tools or images, the system's messages and the last turns stay as they are.
#pragma once

#include "engine/request_state.hpp"

namespace plimsoll::engine {

// Whether the last plan of the request is to be made anew with a shorter history: more is wanted than F1
// allows, or turns would be left out, and there are turns that a summary may stand for.
bool compression_is_due(const Engine& engine, const RequestState& state);

// Puts a summary in the place of turns; the request then has to be planned anew. Where no model answers in
// time, or `may_ask` is false, it is an extract. Without a summary worth having the request stays as it is,
// and is not looked at again.
Awaitable<void> compress(Engine& engine, WorkerContext& worker, RequestState& state, bool may_ask,
                         Deadline deadline);

}  // namespace plimsoll::engine
