// Errors as clients of HTTP get them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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

// The clients of each API read errors in a form of their own.
enum class ErrorForm : std::uint8_t { openai, anthropic, ollama };
// Returns the form for a request. Only Anthropic's clients send a version.
ErrorForm error_form_of(std::string_view path, std::string_view anthropic_version);
// The bodies above in the form of the request's API.
std::string error_body(ErrorForm form, int status, const Error& error);
std::string error_body(ErrorForm form, const Refusal& refusal);
std::vector<HttpHeader> refusal_headers(const Refusal& refusal);

// Returns an error as an event of a stream.
std::string error_event(const Error& error);

}  // namespace plimsoll::gateway
