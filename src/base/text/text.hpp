// Small text functions. ASCII only, independent of the locale.
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

// Of ASCII; false for every other byte.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
constexpr bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
constexpr bool is_letter(char c) {
  return is_upper(c) || is_lower(c);
}
// The value of a hexadecimal digit; -1: it is none.
constexpr int hex_digit(char c) {
  return is_digit(c)            ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

bool is_among(std::span<const std::string_view> names, std::string_view name);

// Converts A to Z to lower case, and the reverse; all other bytes are kept.
std::string to_lower_ascii(std::string_view text);
std::string to_upper_ascii(std::string_view text);

// Removes spaces, tabs and line ends at both ends.
std::string_view trim(std::string_view text);

// Returns the first bytes, at most so many, and no part of a character.
std::string_view prefix_of(std::string_view text, std::size_t most);

// Returns the position of the first sequence that is not well-formed UTF-8 (including surrogates, overlong
// forms and values above U+10FFFF), or npos.
std::size_t find_invalid_utf8(std::string_view text);
bool is_valid_utf8(std::string_view text);

// Returns the number of insertions, deletions, replacements and swaps of neighbours between two texts (no
// part is edited twice). Costs a.size() * b.size(): for names, not for documents.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns the candidate nearest to `name`: at most a third of the longer name may differ, and the first of
// equals wins. Without one, the shortest that goes on after `name` with a mark ("llama3.1" and
// "llama3.1:8b"), or none.
std::optional<std::string_view> nearest(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace plimsoll::base
