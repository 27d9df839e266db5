#include "gateway/error_json.hpp"

#include <nlohmann/json.hpp>

#include "base/json/json_text.hpp"
#include "base/private_words.hpp"
#include "gateway/anthropic/messages_answer.hpp"
#include "gateway/ollama/ollama_answer.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll::gateway {
namespace {

std::string_view error_type_of(int status) {
  switch (status) {
    case 401: return "authentication_error";
    case 403: return "permission_error";
    case 404: return "not_found_error";
    case 429: return "rate_limit_error";
    case 504: return "timeout_error";
    default: return status < 500 ? "invalid_request_error" : "api_error";
  }
}

std::string_view error_code_of(Errc code) {
  switch (code) {
    case Errc::over_budget: return "context_length_exceeded";
    case Errc::unknown_model: return "model_not_found";
    default: return name_of(code);
  }
}

std::string body_of(int status, std::string_view code, std::string_view what) {
  const nlohmann::ordered_json json{
      {"error", {{"message", what}, {"type", error_type_of(status)}, {"param", nullptr}, {"code", code}}},
      {"detail", what}};
  return base::json_text(json);
}

}  // namespace

int status_of(Errc code) {
  return number_of(reply_code(code));
}

int status_of(Refusal::Kind kind) {
  switch (kind) {
    case Refusal::Kind::no_key: return 401;
    case Refusal::Kind::forbidden: return 403;
    case Refusal::Kind::limit: return number_of(code_of_limits);
    case Refusal::Kind::unavailable: return status_of(Errc::unreachable);
  }
  return 500;
}

std::string error_body(const Error& error) {
  return body_of(status_of(error.code), error_code_of(error.code), error.what);
}

std::string error_body(const Refusal& refusal) {
  return body_of(status_of(refusal.kind), refusal.code, refusal.what);
}

ErrorForm error_form_of(std::string_view path, std::string_view anthropic_version) {
  if (path.starts_with("/v1/messages") || !anthropic_version.empty()) return ErrorForm::anthropic;
  return path.starts_with("/api/") ? ErrorForm::ollama : ErrorForm::openai;
}

std::string error_body(ErrorForm form, int status, const Error& error) {
  switch (form) {
    case ErrorForm::anthropic: return messages_error(status, error.what);
    case ErrorForm::ollama: return ollama_error(error.what);
    case ErrorForm::openai: break;
  }
  return body_of(status, error_code_of(error.code), error.what);
}

std::string error_body(ErrorForm form, const Refusal& refusal) {
  switch (form) {
    case ErrorForm::anthropic: return messages_error(status_of(refusal.kind), refusal.what);
    case ErrorForm::ollama:
      return base::json_text(nlohmann::ordered_json{{"error", refusal.what}, {"detail", refusal.what}});
    case ErrorForm::openai: break;
  }
  return error_body(refusal);
}

std::vector<HttpHeader> refusal_headers(const Refusal& refusal) {
  std::vector<HttpHeader> headers;
  if (refusal.kind == Refusal::Kind::no_key) headers.push_back({"WWW-Authenticate", "Bearer"});
  if (refusal.retry_after_seconds > 0)
    headers.push_back({"Retry-After", std::to_string(refusal.retry_after_seconds)});
  // OpenAI's clients would retry at once, which cannot succeed before tomorrow.
  if (refusal.code == "insufficient_quota") headers.push_back({"X-Should-Retry", "false"});
  return headers;
}

std::string error_event(const Error& error) {
  return "data: " + error_body(Error{error.code, base::for_clients(error.what)}) + "\n\n";
}

}  // namespace plimsoll::gateway
