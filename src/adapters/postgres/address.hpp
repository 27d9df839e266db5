// The URL of a server: what may be shown of it, and what must not be.
#pragma once

#include <string>
#include <string_view>

#include "base/secret.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::postgres {

struct Address {
  std::string shown;  // "postgres://host:5432/database", without user, password and options
  base::Secret password{};
};

// bad_setting: not a URL that libpq understands. The error does not repeat the URL.
Result<Address> read_address(const base::Secret& url);

// Returns one line of a message of libpq or of the server, without the password.
std::string safe_text(const Address& address, std::string_view message);

}  // namespace plimsoll::postgres
