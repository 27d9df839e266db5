// The head of a reply that carries an answer of the engine.
#pragma once

#include "engine/answer_sink.hpp"
#include "gateway/http/http_server.hpp"

namespace plimsoll::gateway {

// Returns the server's status and those of its headers that are useful to clients, and the plan's figures.
AnswerHead answer_head(const engine::AnswerStart& start);

// The same for a request that the caller's limits do not allow.
AnswerHead answer_head(const Trace& trace, const engine::Refusal& refusal);

}  // namespace plimsoll::gateway
