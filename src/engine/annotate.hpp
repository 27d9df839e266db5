// Fields that the gateway adds to the upstream's answer.
#pragma once

#include <string>
#include <string_view>

#include "engine/request_state.hpp"

namespace plimsoll::engine {

// Returns status and headers of the answer: the upstream's that are useful to clients, and ours.
AnswerHead answer_head(const RequestState& state, const ReplyHead& from);

// `"source_nodes": ..., "plimsoll": {...}` without the braces around them (K4).
std::string annotation(const RequestState& state);

// Returns the message of an error in OpenAI's, FastAPI's or Ollama's format; else the text itself, shortened.
// Returns an upstream's failure in RAGEngine's words for a chat with documents, whatever its status.
Error ragengine_failure(std::string_view said);

std::string said_in_error(std::string_view body);
// K6: adds `detail` to an error that has `error`.
std::string with_detail(std::string body, std::string_view said);
// Returns an error as a stream event.
std::string error_event(const Error& error);
// Returns the body of one of our errors: `error {message, type, code}` and `detail`.
std::string error_body(const Error& error);
// The same for a refused request.
std::string refusal_body(const Refusal& refusal);
std::vector<HttpHeader> refusal_headers(const Refusal& refusal);

}  // namespace plimsoll::engine
