// Decompresses request bodies (Content-Encoding).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "plimsoll/result.hpp"

namespace plimsoll::gateway {

enum class Coding : std::uint8_t { none, gzip, unknown };

// Parses the header's value; empty: none.
Coding coding_of(std::string_view content_encoding);

// Decompresses one or more gzip members. over_budget: more than `limit`, or `has_room` is false for the bytes
// so far, which it is asked before they are kept; bad_input: not gzip, truncated, or followed by other data.
Result<std::string> gunzip(std::string_view body, std::size_t limit,
                           const std::function<bool(std::size_t bytes)>& has_room = {});

}  // namespace plimsoll::gateway
