// Falls back to another model if a server does not answer and fallback is allowed (F).
#pragma once

#include "engine/request_state.hpp"

namespace plimsoll::engine {

// Returns whether the server, after all retries, is unavailable: it has too many requests, or it fails.
bool is_unavailable(Took took);
bool is_unavailable(const Error& error);

// Returns a description for clients, without the server's address.
std::string_view kind_of_failure(const Error& error);

// Chooses the next allowed model that a server lists, that was not tried yet and whose window fits the
// request. False: fallback is off, or there is none. True: the request must be planned again.
bool take_stand_in(Engine& engine, RequestState& state, std::string_view why);

// Notes in the plan which model replaces which, and why.
void tell_stand_in(RequestState& state);

}  // namespace plimsoll::engine
