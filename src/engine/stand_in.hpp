// Another model in the place of one whose server does not answer, where fallback is allowed (F).
#pragma once

#include "engine/request_state.hpp"

namespace plimsoll::engine {

// Whether a server that says this, after all retries, has no answer for anybody: too many requests, or an
// error of its own.
bool is_unavailable(int status);
bool is_unavailable(const Error& error);

// In words for clients, without the server's address.
std::string_view kind_of_failure(const Error& error);

// Chooses the next allowed model that a server lists, that was not tried yet and whose window holds the
// request. False: fallback is off, or there is none. True: the request should be planned again.
bool take_stand_in(Engine& engine, RequestState& state, std::string_view why);

// Notes in the plan which model answers in place of which, and why.
void tell_stand_in(RequestState& state);

}  // namespace plimsoll::engine
