#include "gateway/http/cors.hpp"

#include <algorithm>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/host_name.hpp>

#include "base/text/text.hpp"

namespace plimsoll::gateway {
namespace {

constexpr std::string_view methods = "GET, POST, DELETE, OPTIONS";
constexpr std::string_view usual_headers =
    "Authorization, Content-Type, X-API-Key, api-key, MCP-Protocol-Version";
constexpr std::string_view told =
    "Retry-After, X-Plimsoll-Trace, X-Plimsoll-Window, X-Plimsoll-Input-Tokens, X-Plimsoll-Answer-Tokens, "
    "X-Plimsoll-Model, X-Plimsoll-Upstream-Cut-Tokens, X-RateLimit-Limit-Requests, "
    "X-RateLimit-Remaining-Requests, X-RateLimit-Limit-Tokens, X-RateLimit-Remaining-Tokens";

// Returns whether the text is a list of header names of limited length.
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

constexpr std::size_t longest_shown = 200;

bool is_listed(const std::vector<std::string>& origins, std::string_view origin) {
  const std::string asked = base::to_lower_ascii(origin);
  return std::ranges::any_of(origins, [&](const std::string& one) { return one == "*" || one == asked; });
}

// Returns the host without port and without brackets.
std::string host_of(std::string_view host) {
  const std::size_t close = host.starts_with('[') ? host.find(']') : std::string_view::npos;
  if (close != std::string_view::npos && host.substr(0, close).find(':') != std::string_view::npos)
    return base::to_lower_ascii(host.substr(1, close - 1));
  return base::to_lower_ascii(host.substr(0, host.find(':')));
}

bool is_address(const std::string& host) {
  boost::system::error_code error;
  boost::asio::ip::make_address(host, error);
  return !error;
}

// Returns whether no foreign DNS server can point this name here: an address, or a name that public DNS does
// not resolve, such as one without a dot.
bool is_own_name(std::string_view given) {
  const std::string host = host_of(given);
  if (is_address(host) || host.find('.') == std::string::npos) return true;
  for (const std::string_view end : {".localhost", ".local", ".internal"})
    if (host.ends_with(end)) return true;
  boost::system::error_code error;
  return host == base::to_lower_ascii(boost::asio::ip::host_name(error));
}

}  // namespace

bool is_welcome_origin(std::string_view origin) {
  if (origin.empty()) return true;
  const std::size_t scheme = origin.find("://");
  if (scheme == std::string_view::npos) return false;  // "null": a page without an origin
  const std::string host = host_of(origin.substr(scheme + 3));
  return host == "localhost" || host == "127.0.0.1" || host == "::1";
}

Result<std::vector<std::string>> read_origins(const std::vector<std::string>& given) {
  std::vector<std::string> origins;
  for (const std::string& one : given) {
    std::string origin = base::to_lower_ascii(one);
    if (origin.ends_with('/')) origin.pop_back();
    if (origin != "*" && !is_origin(origin))
      return fail(
          Errc::bad_setting,
          "'{}' in cors_origins is not an origin: use scheme and host, such as https://app.example or "
          "http://localhost:3000, or * for all",
          one);
    origins.push_back(std::move(origin));
  }
  return origins;
}

std::vector<HttpHeader> cors_headers(const std::vector<std::string>& origins, const ClientRequest& request) {
  if (origins.empty() || request.origin.empty()) return {};
  // Caches must not mix up answers for different pages.
  if (!is_listed(origins, request.origin)) return {{"Vary", "Origin"}};
  return {{"Access-Control-Allow-Origin", request.origin},
          {"Vary", "Origin"},
          {"Access-Control-Expose-Headers", std::string(told)}};
}

std::string why_unwelcome(const std::vector<std::string>& origins, const ClientRequest& request,
                          bool needs_keys) {
  if (needs_keys) return {};
  if (request.from_here && !is_own_name(request.host))
    return fmt::format(
        "this gateway has no API keys, and the host '{}' is not a name of this machine: use 127.0.0.1, let "
        "a proxy send Host: 127.0.0.1, or add a key (`plimsoll keys add`)",
        request.host.substr(0, longest_shown));
  if (request.origin.empty() || request.method == "GET" || request.method == "OPTIONS") return {};
  if (request.path == "/mcp") return {};  // has its own error message
  if (is_welcome_origin(request.origin) || is_listed(origins, request.origin)) return {};
  const std::size_t scheme = request.origin.find("://");
  if (scheme != std::string::npos && is_address(host_of(request.host)) &&
      std::string_view(request.origin).substr(scheme + 3) == request.host)
    return {};  // a page of this server, by its own name
  return fmt::format("pages of {} may not use this gateway; add them to cors_origins to allow it",
                     request.origin.substr(0, longest_shown));
}

std::vector<HttpHeader> preflight_headers(const ClientRequest& request) {
  return {{"Access-Control-Allow-Methods", std::string(methods)},
          {"Access-Control-Allow-Headers", is_list_of_headers(request.preflight_headers)
                                               ? request.preflight_headers
                                               : std::string(usual_headers)},
          {"Access-Control-Max-Age", "600"}};
}

}  // namespace plimsoll::gateway
