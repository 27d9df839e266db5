// Bodies that clients have compressed (Content-Encoding).
#pragma once

#include <string>
#include <string_view>

#include "plimsoll/result.hpp"

namespace plimsoll::gateway {

enum class Coding : std::uint8_t { none, gzip, unknown };

// By the value of the header; empty: none.
Coding coding_of(std::string_view content_encoding);

// The bytes within, of one gzip member or several. over_budget: more than `limit`; bad_input: not gzip, cut
// off, or something follows it. Takes no more memory than the limit, whatever the body would become.
Result<std::string> gunzip(std::string_view body, std::size_t limit);

}  // namespace plimsoll::gateway
