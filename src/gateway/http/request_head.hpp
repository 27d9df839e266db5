// Checks the head of a request before it is parsed. If two programs could read the same bytes as two
// different requests, the head is refused, as RFC 9112 requires. Pure.
#pragma once

#include <cstddef>
#include <string_view>

#include "plimsoll/result.hpp"

namespace plimsoll::gateway {

// Returns the length of the head at the start of `arrived`, including the final empty line; 0: incomplete.
// bad_input: an invalid byte, such as NUL or a single line feed. `scanned` is 0 at first; the caller keeps
// it between calls while `arrived` grows.
Result<std::size_t> head_length(std::string_view arrived, std::size_t& scanned);

// bad_input: an ambiguous head. Checks folded lines, header names, Host, and the headers for the body
// length. The parser checks the request line.
Result<void> check_head(std::string_view head);

}  // namespace plimsoll::gateway
