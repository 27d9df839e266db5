// Requests that are not chats: /v1/completions, /v1/responses, /v1/embeddings. They are forwarded unchanged,
// except that an input that does not fit is refused, and an answer limit that is too large is lowered.
#pragma once

#include "engine/request_state.hpp"

namespace plimsoll::engine {

// Returns the sentence by which clients of OpenAI's API recognise an overflow.
std::string overflow_in_openais_words(Tokens window, Tokens messages, Tokens completion);

bool is_chat(const RequestState& state);
// Returns the model named in a body; empty: none.
Result<std::string> model_named(const nlohmann::ordered_json& body);
Result<void> read_other(Engine& engine, RequestState& state);
Result<void> plan_other(Engine& engine, RequestState& state, const PlanModels& models);

}  // namespace plimsoll::engine
