// What a client is told beside the upstream's own words.
#pragma once

#include <string>
#include <string_view>

#include "engine/request_state.hpp"

namespace plimsoll::engine {

// Status and headers of the answer: the upstream's that help a client, and ours.
AnswerHead answer_head(const RequestState& state, const ReplyHead& from);

// `"source_nodes": ..., "plimsoll": {...}` without the braces around them (K4).
std::string annotation(const RequestState& state);

// The message of an error in OpenAI's form, in FastAPI's, or in Ollama's; else the text itself, shortened.
// An upstream's failure in RAGEngine's words, whatever its status: what it says of a chat with documents.
Error ragengine_failure(std::string_view said);

std::string said_in_error(std::string_view body);
// K6: an error that has `error` has `detail` too.
std::string with_detail(std::string body, std::string_view said);
// An error in the middle of a stream.
std::string error_event(const Error& error);
// The whole body of an error of ours: `error {message, type, code}` and `detail`.
std::string error_body(const Error& error);
// The same for somebody who may not ask now.
std::string refusal_body(const Refusal& refusal);
std::vector<HttpHeader> refusal_headers(const Refusal& refusal);

}  // namespace plimsoll::engine
