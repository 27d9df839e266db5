// Writing JSON straight into a string, where building a tree of values first would cost too much.
#pragma once

#include <string>
#include <string_view>

namespace plimsoll::base {

// Appends `text` in quotes. Quotes, backslashes and control characters are escaped, each byte that is not
// part of well-formed UTF-8 becomes U+FFFD: whatever the bytes, what is appended is a JSON string on one
// line.
void append_json_string(std::string& out, std::string_view text);

// Appends JSON without its line ends and the blanks after them. A line end never stands inside a JSON string.
void append_json_on_one_line(std::string& out, std::string_view json);

}  // namespace plimsoll::base
