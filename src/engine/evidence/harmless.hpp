// Keeps data from being read as instructions (U4): strings that spell special tokens, or the marks around
// data, are broken up before a template or a model sees them.
#pragma once

#include "engine/request_state.hpp"

namespace plimsoll::engine {

// Also breaks up marks that would end a block of passages, a summary or a conversation. Returns the number of
// strings found.
std::size_t make_harmless(const PlanModel& model, std::string& text);

// Returns whether the request has tool results, passages or facts.
bool holds_data(const RequestParts& parts);

// Escapes tool results, and passages and facts from the client. Adds a warning with their number to the
// trace.
void defuse_request(const PlanModel& model, RequestState& state);

}  // namespace plimsoll::engine
