// Errors as clients of HTTP get them.
#pragma once

#include <string>
#include <vector>

#include "engine/limits.hpp"
#include "plimsoll/http.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::gateway {

using engine::Refusal;

int status_of(Errc code);
int status_of(Refusal::Kind kind);

// Returns the body of one of our errors: OpenAI's `error {message, type, code}`, and RAGEngine's `detail`.
std::string error_body(const Error& error);
std::string error_body(const Refusal& refusal);
std::vector<HttpHeader> refusal_headers(const Refusal& refusal);

// Returns an error as an event of a stream.
std::string error_event(const Error& error);

}  // namespace plimsoll::gateway
