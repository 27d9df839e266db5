// Which pages a browser lets read our answers.
#pragma once

#include <string>
#include <vector>

#include "gateway/http/http_server.hpp"

namespace plimsoll::gateway {

// "https://app.example", as browsers spell it, or "*" for all. bad_setting says what is wrong with one.
Result<std::vector<std::string>> read_origins(const std::vector<std::string>& given);

// A browser names the page that asks. Pages of this machine may; others may not, also where a name of theirs
// was made to lead here. No origin: no browser.
bool is_welcome_origin(std::string_view origin);

// What every answer to such a page has; empty: the page is not listed, or no browser asks.
std::vector<HttpHeader> cors_headers(const std::vector<std::string>& origins, const ClientRequest& request);

// Why a request is not served that a page makes which nobody listed; empty: it is. A page may send plain
// POSTs anywhere, and needs no leave as long as it does not read the answer; and one whose name was made to
// lead to this machine may read it. With keys neither helps it.
std::string why_unwelcome(const std::vector<std::string>& origins, const ClientRequest& request,
                          bool needs_keys);

// The answer to a browser's question whether it may ask at all.
std::vector<HttpHeader> preflight_headers(const ClientRequest& request);

}  // namespace plimsoll::gateway
