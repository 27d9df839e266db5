// Words that only the operator may read, such as the addresses of upstreams and the paths of files. Logs and
// traces keep them; what clients are told of an error has other words in their place.
#pragma once

#include <string>
#include <string_view>

namespace plimsoll::base {

// For the rest of the process. Any thread.
void keep_private(std::string words, std::string shown_as);

std::string for_clients(std::string_view text);

}  // namespace plimsoll::base
