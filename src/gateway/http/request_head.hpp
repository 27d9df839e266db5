// The head of a request, checked before it is parsed. Where two programs could read the same bytes as two
// different requests, the head is refused, as RFC 9112 asks. Pure.
#pragma once

#include <cstddef>
#include <string_view>

#include "plimsoll/result.hpp"

namespace plimsoll::gateway {

// The length of the head at the beginning of `arrived`, with the empty line that ends it; 0: more is needed.
// bad_input: a byte that no head may hold, such as NUL or a line feed alone. `scanned` is 0 at first and is
// kept by the caller from one call to the next, as `arrived` grows.
Result<std::size_t> head_length(std::string_view arrived, std::size_t& scanned);

// bad_input: a head without a clear meaning. Covers folded lines, names that are not tokens, Host, and the
// headers that say where the body ends. The request line is left to the parser.
Result<void> check_head(std::string_view head);

}  // namespace plimsoll::gateway
