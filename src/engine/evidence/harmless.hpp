// Keeps data from being read as instructions (U4): strings that spell special tokens, or the marks around
// data, are broken up before a template or a model sees them.
#pragma once

#include "chat/chat_request.hpp"
#include "plimsoll/plan.hpp"

namespace plimsoll::engine {

struct Request;

// Also breaks up marks that would end a block of passages, a summary or a conversation. Returns the number of
// strings found.
std::size_t make_harmless(const PlanModel& model, std::string& text);

// Returns whether the request has tool results, passages or facts.
bool holds_data(const chat::ChatRequest& parts);

// Escapes tool results, passages and facts. A warning has their number.
Request escape_data(const PlanModel& model, Request request);

}  // namespace plimsoll::engine
