// A server of models: where it is, of which kind, and the key for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/secret.hpp"
#include "plimsoll/window.hpp"

namespace plimsoll::models {

struct Upstream {
  std::string root;                // what paths such as /v1/models are put after; may hold a password
  std::string shown;               // the same without one, for people
  std::optional<ServerKind> kind;  // none: to be found out
  base::Secret key;                // sent to this server, and to no other
  std::string cache_key;           // tells this server, asked as this kind, from all others
};

// From an address as people have it: the server's, or that of one of its routes (".../v1",
// ".../v1/chat/completions"). bad_input where it is no http or https address.
Result<Upstream> make_upstream(std::string_view url, std::optional<ServerKind> kind, base::Secret key = {});

// Which kind an address speaks for by itself: the hosts of some vendors, and the ports that servers have when
// nobody chose another.
struct KindHint {
  std::optional<ServerKind> certain;
  std::optional<ServerKind> likely;
};
KindHint hint_of(std::string_view url);

// "https://host:8000" of an address, in small letters, the scheme's own port left out; empty for no address.
// A key that was given for one server is sent to another address only where these are the same.
std::string origin_of(std::string_view url);

}  // namespace plimsoll::models
