// Decompresses request bodies (Content-Encoding).
#pragma once

#include <string>
#include <string_view>

#include "plimsoll/result.hpp"

namespace plimsoll::gateway {

enum class Coding : std::uint8_t { none, gzip, unknown };

// Parses the header's value; empty: none.
Coding coding_of(std::string_view content_encoding);

// Decompresses one or more gzip members. over_budget: more than `limit`; bad_input: not gzip, truncated, or
// followed by other data. Uses no more memory than the limit.
Result<std::string> gunzip(std::string_view body, std::size_t limit);

}  // namespace plimsoll::gateway
