// Random texts.
#pragma once

#include <cstddef>
#include <string>

namespace plimsoll::base {

// Returns random bytes from the system, encoded in 64 characters that need no escape in URLs, headers and
// shells: 32 bytes are 43 characters. Throws if the system has none.
std::string random_text(std::size_t bytes);

}  // namespace plimsoll::base
