// Falls back to another model if a server does not answer and fallback is allowed (F).
#pragma once

#include "engine/stages.hpp"

namespace plimsoll::engine {

// Returns whether the server, after all retries, is unavailable: it has too many requests, or it fails.
bool is_unavailable(Took took);
bool is_unavailable(const Error& error);

// Returns a description for clients, without the server's address.
std::string_view kind_of_failure(const Error& error);

// Chooses the next allowed model that a server lists, that was not tried yet and whose window fits the
// request. None: fallback is off, or there is none. `trace`: of the request so far, with the last plan's
// figures; `failed`: the model that did not answer.
std::optional<Replan> take_stand_in(const Engine& engine, const Received& received, const Request& request,
                                    const Attempt& attempt, const Trace& trace,
                                    const models::ModelLocation& failed, std::string_view why);

// Notes in the plan which model replaces which, and why.
void tell_stand_in(Plan& plan, const Attempt& attempt);

}  // namespace plimsoll::engine
