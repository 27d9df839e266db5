// A model server: its URL, kind and API key.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/secret.hpp"
#include "plimsoll/window.hpp"

namespace plimsoll::models {

struct Upstream {
  std::string root;                // base URL for paths such as /v1/models; may contain a password
  std::string shown;               // the same without password, for display
  std::optional<ServerKind> kind;  // none: detect it
  base::Secret key;                // sent only to this server
  std::string cache_key;           // identifies server and kind
};

// Parses a URL of the server or of one of its routes (".../v1",
// ".../v1/chat/completions"). bad_input: not an http or https URL.
Result<Upstream> make_upstream(std::string_view url, std::optional<ServerKind> kind, base::Secret key = {});

// The kind that a URL suggests: by the hosts of some vendors, and by the default ports of
// servers.
struct KindHint {
  std::optional<ServerKind> certain;
  std::optional<ServerKind> likely;
};
KindHint hint_of(std::string_view url);

// Returns "https://host:8000" of a URL, in lower case, without a default port; empty for an invalid URL.
// The key of one server is sent to another URL only if their origins are equal.
std::string origin_of(std::string_view url);

}  // namespace plimsoll::models
