#include "gateway/cors.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace plimsoll::gateway {
namespace {

constexpr std::string_view methods = "GET, POST, DELETE, OPTIONS";
constexpr std::string_view usual_headers =
    "Authorization, Content-Type, X-API-Key, api-key, MCP-Protocol-Version";
constexpr std::string_view told =
    "Retry-After, X-Plimsoll-Trace, X-Plimsoll-Window, X-Plimsoll-Input-Tokens, X-Plimsoll-Answer-Tokens, "
    "X-Plimsoll-Model, X-Plimsoll-Upstream-Cut-Tokens, X-RateLimit-Limit-Requests, "
    "X-RateLimit-Remaining-Requests, X-RateLimit-Limit-Tokens, X-RateLimit-Remaining-Tokens";

// Names of headers and commas, and no more than anybody has.
bool is_list_of_headers(std::string_view text) {
  constexpr std::size_t longest = 1'000;
  return !text.empty() && text.size() <= longest && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == ',' || c == ' ';
  });
}

bool is_origin(std::string_view text) {
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos || scheme == 0 || scheme + 3 == text.size()) return false;
  return text.find_first_of("/?#*@ \t", scheme + 3) == std::string_view::npos;
}

}  // namespace

Result<std::vector<std::string>> read_origins(const std::vector<std::string>& given) {
  std::vector<std::string> origins;
  for (const std::string& one : given) {
    std::string origin = base::to_lower_ascii(one);
    if (origin.ends_with('/')) origin.pop_back();
    if (origin != "*" && !is_origin(origin))
      return fail(Errc::bad_setting,
                  "'{}' in cors_origins is no origin: write scheme and host, as https://app.example or "
                  "http://localhost:3000, or * for all",
                  one);
    origins.push_back(std::move(origin));
  }
  return origins;
}

std::vector<HttpHeader> cors_headers(const std::vector<std::string>& origins, const ClientRequest& request) {
  if (origins.empty() || request.origin.empty()) return {};
  const std::string asked = base::to_lower_ascii(request.origin);
  const bool listed = std::ranges::any_of(
      origins, [&](const std::string& origin) { return origin == "*" || origin == asked; });
  // Caches must not show one page what another one got, also where that is nothing.
  if (!listed) return {{"Vary", "Origin"}};
  return {{"Access-Control-Allow-Origin", request.origin},
          {"Vary", "Origin"},
          {"Access-Control-Expose-Headers", std::string(told)}};
}

std::vector<HttpHeader> preflight_headers(const ClientRequest& request) {
  return {{"Access-Control-Allow-Methods", std::string(methods)},
          {"Access-Control-Allow-Headers", is_list_of_headers(request.preflight_headers)
                                               ? request.preflight_headers
                                               : std::string(usual_headers)},
          {"Access-Control-Max-Age", "600"}};
}

}  // namespace plimsoll::gateway
