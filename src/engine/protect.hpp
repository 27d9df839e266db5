// Requests that are not chats: /v1/completions, /v1/responses, /v1/embeddings. They go through as they are;
// what does not fit is refused, and an answer that is asked too long for what is left is lowered.
#pragma once

#include "engine/course.hpp"

namespace plimsoll::engine {

// The sentence that clients of OpenAI's API look for to tell an overflow from other errors.
std::string overflow_in_openais_words(Tokens window, Tokens messages, Tokens completion);

bool is_chat(const Course& course);
// The model that a body names; empty: none.
Result<std::string> model_named(const nlohmann::ordered_json& body);
Result<void> read_other(Engine& engine, Course& course);
Result<void> chart_other(Engine& engine, Course& course, const PlanModels& models);

}  // namespace plimsoll::engine
