// What nobody can guess.
#pragma once

#include <cstddef>
#include <string>

namespace plimsoll::base {

// So many bytes of the system's own randomness, in the 64 characters that need no escape in a URL, a header
// or a shell: 32 bytes are 43 characters. Ends the program where the system has none to give.
std::string random_text(std::size_t bytes);

}  // namespace plimsoll::base
