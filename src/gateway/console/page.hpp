// Serves the files of the web console, which are part of the program.
#pragma once

#include <string_view>

#include "gateway/router.hpp"

namespace plimsoll::gateway {

// Returns whether the client asks for a web page by name: browsers do, while clients of the API accept
// anything or JSON.
bool accepts_html(std::string_view accept);
// Returns whether an Accept-Encoding allows gzip.
bool accepts_gzip(std::string_view accept_encoding);

// Sends the page itself.
Awaitable<void> send_page(Call call);
// Sends the file that the path names, or 404.
Awaitable<void> send_console_file(Call call);

}  // namespace plimsoll::gateway
