// Requests that are not chats: /v1/completions, /v1/responses, /v1/embeddings. They go through as they are;
// what does not fit is refused, and an answer that is asked too long for what is left is lowered.
#pragma once

#include "engine/request_state.hpp"

namespace plimsoll::engine {

// The sentence that clients of OpenAI's API look for to tell an overflow from other errors.
std::string overflow_in_openais_words(Tokens window, Tokens messages, Tokens completion);

bool is_chat(const RequestState& state);
// The model that a body names; empty: none.
Result<std::string> model_named(const nlohmann::ordered_json& body);
Result<void> read_other(Engine& engine, RequestState& state);
Result<void> plan_other(Engine& engine, RequestState& state, const PlanModels& models);

}  // namespace plimsoll::engine
