#include "models/upstream.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text/text.hpp"
#include "base/try.hpp"

namespace plimsoll::models {
namespace {

struct Parts {
  std::string scheme;  // "http" or "https"
  std::string user;    // "ann:secret@", or empty
  std::string host;    // as written; an IPv6 address with its brackets
  std::string port;    // digits, or empty
  std::string path;    // without query and fragment, without slashes at its end
};

Result<Parts> take_apart(std::string_view url) {
  const auto bad = [] { return fail(Errc::bad_input, "a server URL needs http:// or https:// and a host"); };
  const bool clean = std::ranges::none_of(
      url, [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7F' || c == '\\'; });
  const std::size_t colon = url.find("://");
  if (!clean || colon == std::string_view::npos) return bad();
  Parts parts;
  parts.scheme = base::to_lower_ascii(url.substr(0, colon));
  if (parts.scheme != "http" && parts.scheme != "https") return bad();
  std::string_view rest = url.substr(colon + 3);
  const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  std::string_view authority = rest.substr(0, end);
  rest.remove_prefix(end);
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    parts.user = authority.substr(0, at + 1);
    authority.remove_prefix(at + 1);
  }
  const std::size_t port = authority.starts_with('[')
                               ? authority.find(':', std::min(authority.find(']'), authority.size()))
                               : authority.find(':');
  parts.host = authority.substr(0, port);
  if (port != std::string_view::npos) parts.port = authority.substr(port + 1);
  const bool open_bracket = parts.host.starts_with('[') != parts.host.ends_with(']');
  if (parts.host.empty() || open_bracket || parts.port.find_first_not_of("0123456789") != std::string::npos ||
      parts.port.size() > 5)
    return bad();
  parts.path = rest.substr(0, rest.find_first_of("?#"));
  while (parts.path.ends_with('/')) parts.path.pop_back();
  return parts;
}

// Users give the URL for their client; our routes are elsewhere. The path before the route belongs to the
// server: some have everything below /openai or /models.
void strip_routes(std::string& path, std::optional<ServerKind> kind) {
  const auto strip = [&](std::string_view route) {
    const bool has = path.ends_with(route);
    if (has) path.resize(path.size() - route.size());
    return has;
  };
  const auto strip_slashes = [&] {
    while (strip("/")) continue;
  };
  for (const std::string_view route : {"/chat/completions", "/completions", "/embeddings"})
    if (strip(route)) break;
  strip_slashes();
  for (const std::string_view route :
       {"/v1/models", "/v1beta/models", "/v1beta/openai", "/api/v0/models", "/v1beta", "/v1", "/api/v0"})
    if (strip(route)) break;
  strip_slashes();
  if (kind == ServerKind::ollama && strip("/api")) strip_slashes();
}

}  // namespace

Result<Upstream> make_upstream(std::string_view url, std::optional<ServerKind> kind, base::Secret key) {
  TRY(Parts parts, take_apart(url));
  if (!kind) kind = hint_of(url).certain;
  strip_routes(parts.path, kind);
  const std::string where =
      fmt::format("{}{}{}{}", parts.host, parts.port.empty() ? "" : ":", parts.port, parts.path);
  Upstream upstream;
  upstream.root = fmt::format("{}://{}{}", parts.scheme, parts.user, where);
  upstream.shown = fmt::format("{}://{}", parts.scheme, where);
  upstream.kind = kind;
  upstream.key = std::move(key);
  upstream.cache_key = fmt::format("{} {}", kind ? name_of(*kind) : "any", upstream.shown);
  return upstream;
}

KindHint hint_of(std::string_view url) {
  const auto parts = take_apart(url);
  if (!parts) return {};
  const std::string host = base::to_lower_ascii(parts->host);
  if (host == "api.anthropic.com") return {ServerKind::anthropic, {}};
  if (host == "generativelanguage.googleapis.com") return {ServerKind::gemini, {}};
  if (host == "openrouter.ai") return {ServerKind::openrouter, {}};
  if (host == "api.openai.com") return {ServerKind::openai, {}};
  if (parts->port == "11434") return {{}, ServerKind::ollama};
  if (parts->port == "1234") return {{}, ServerKind::lm_studio};
  return {};
}

std::string origin_of(std::string_view url) {
  const auto parts = take_apart(url);
  if (!parts) return {};
  const bool own_port = parts->port.empty() || (parts->scheme == "http" && parts->port == "80") ||
                        (parts->scheme == "https" && parts->port == "443");
  return fmt::format("{}://{}{}{}", parts->scheme, base::to_lower_ascii(parts->host), own_port ? "" : ":",
                     own_port ? "" : parts->port);
}

}  // namespace plimsoll::models
