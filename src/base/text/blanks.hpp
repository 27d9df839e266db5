// White space in UTF-8: ASCII and Unicode blanks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "plimsoll/document.hpp"

namespace plimsoll::base {

// Returns the size in bytes of the white space character at `at`; 0: none.
std::size_t white_at(std::string_view text, std::size_t at);

// Returns the span without surrounding white space; may be empty.
Span trimmed(std::string_view text, Span span);

// Returns the text without surrounding white space, and with one blank for each run of it.
std::string with_single_blanks(std::string_view text);

}  // namespace plimsoll::base
