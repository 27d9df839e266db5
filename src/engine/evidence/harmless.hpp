// What is data stays data (U4): spellings of special tokens, and of the marks that data stands between, are
// broken up before a template or a model could take them for more than text.
#pragma once

#include "engine/request_state.hpp"

namespace plimsoll::engine {

// Also what would end the block that passages, a summary or a conversation stand in. How many spellings were
// found.
std::size_t make_harmless(const PlanModel& model, std::string& text);

// Whether the request brings any: tools' results, passages, facts.
bool holds_data(const RequestParts& parts);

// Tools' results, and passages and facts that the client brought. A warning of the trace tells how many.
void defuse_request(const PlanModel& model, RequestState& state);

}  // namespace plimsoll::engine
