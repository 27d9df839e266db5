// Addresses of servers, taken apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plimsoll/result.hpp"

namespace plimsoll::adapters {

// Whom to connect to, as the front of an address says it.
struct Origin {
  bool tls = false;
  std::string host;  // a name or a number; no brackets around IPv6
  std::uint16_t port = 0;
  std::string user_info;  // "ann:geheim", decoded; never shown

  // "host", "host:8080", "[::1]:8080"; the scheme's own port is left out.
  std::string authority() const;
  // "https://host:8080": what messages may show.
  std::string shown() const;
};

// The front of an address, up to where the path begins, and the rest without the fragment. bad_input, without
// a word of the address, where it is none that can be asked.
struct SplitUrl {
  std::string_view front;  // "https://ann:geheim@host:8080"
  std::string_view path;   // "/v1/models?x=1", or empty
};
Result<SplitUrl> split_url(std::string_view url);
Result<Origin> read_origin(std::string_view front);

// What goes into the request line, and what of it messages may show.
std::string target_of(std::string_view path);
std::string_view without_query(std::string_view path);

// This machine by one of its own names: localhost, 127.x, ::1.
bool is_this_machine(std::string_view host);
bool has_control(std::string_view text);
std::string base64(std::string_view bytes);

}  // namespace plimsoll::adapters
