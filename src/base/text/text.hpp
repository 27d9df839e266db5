// Small questions about text that several rooms ask. ASCII rules only: nothing here knows a locale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace plimsoll::base {

// 1234567 -> "1,234,567"; -1234 -> "-1,234".
std::string with_thousands(std::int64_t number);

// 999 -> "999 B", 3'613'922 -> "3.6 MB". Steps of 1,000, one decimal.
std::string human_bytes(std::uint64_t bytes);

// A to Z become a to z, and the reverse; every other byte stays as it is.
std::string to_lower_ascii(std::string_view text);
std::string to_upper_ascii(std::string_view text);

// Without spaces, tabs and line ends at either end.
std::string_view trim(std::string_view text);

// The first byte of the first sequence that is not well-formed UTF-8 (surrogates, overlong forms and
// anything above U+10FFFF are not), or npos.
std::size_t find_invalid_utf8(std::string_view text);
bool is_valid_utf8(std::string_view text);

// How many insertions, deletions, replacements and swaps of neighbours turn one into the other (no
// part of it edited twice). Costs a.size() * b.size(): for names, not for documents.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate that somebody who typed `name` most likely meant, or nothing if none is near: at
// most a third of the longer name may differ. The first of equals wins.
std::optional<std::string_view> nearest(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace plimsoll::base
