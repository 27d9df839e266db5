// Decides which web pages may use the gateway from a browser.
#pragma once

#include <string>
#include <vector>

#include "gateway/http/http_server.hpp"

namespace plimsoll::gateway {

// Reads origins such as "https://app.example", or "*" for all. bad_setting: the error explains the invalid
// one.
Result<std::vector<std::string>> read_origins(const std::vector<std::string>& given);

// Returns whether the page's origin is on this machine. Other origins are refused, even if their name
// resolves to this machine. No origin: not a browser.
bool is_welcome_origin(std::string_view origin);

// Returns the headers for every answer to a listed page; empty: not listed, or not a browser.
std::vector<HttpHeader> cors_headers(const std::vector<std::string>& origins, const ClientRequest& request);

// Returns why a request from a page that is not listed is refused; empty: it is accepted. A page may send
// plain POSTs anywhere without permission if it does not read the answer, and a page whose name resolves to
// this machine (DNS rebinding) may read it. With keys neither works.
std::string why_unwelcome(const std::vector<std::string>& origins, const ClientRequest& request,
                          bool needs_keys);

// Returns the headers for a preflight request.
std::vector<HttpHeader> preflight_headers(const ClientRequest& request);

}  // namespace plimsoll::gateway
