// Code points: decoding them, and the general category of each as the reference tokenizers see it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace plimsoll::count {

// Unicode's general categories. `cc_space` is apart because \s counts those controls; `cjk` is a
// flag on any category, for the one range that a pre-tokeniser (DeepSeek's) names by code points.
enum Category : std::uint8_t {
  lu,
  ll,
  lt,
  lm,
  lo,
  mn,
  mc,
  me,
  nd,
  nl,
  no,
  pc,
  pd,
  ps,
  pe,
  pi,
  pf,
  po,
  sm,
  sc,
  sk,
  so,
  zs,
  zl,
  zp,
  cc,
  cf,
  co,
  cn,
  cc_space,
  invalid,  // a byte that is no part of a UTF-8 character
  cjk = 0x20,
};
inline constexpr std::size_t category_values = 64;

std::uint8_t category_of(char32_t code_point);

// The categories of the first four planes, where almost all text lies, for loops over much of it.
inline constexpr char32_t flat_limit = 0x40000;
const std::uint8_t* flat_categories();

struct Decoded {
  char32_t code_point;
  std::uint8_t length;  // bytes; an invalid byte stands alone
  bool valid;
};

// The character at the front of a text that is not empty. Overlong forms, surrogates and what lies
// above U+10FFFF are invalid, byte by byte.
inline Decoded decode(const unsigned char* p, const unsigned char* end) {
  const auto continues = [&](int i) { return p + i < end && (p[i] & 0xC0) == 0x80; };
  const unsigned char c = p[0];
  if (c < 0x80) return {c, 1, true};
  if (c >= 0xC2 && c <= 0xDF && continues(1))
    return {static_cast<char32_t>((c & 0x1F) << 6 | (p[1] & 0x3F)), 2, true};
  if ((c & 0xF0) == 0xE0 && continues(1) && continues(2)) {
    const auto code_point = static_cast<char32_t>((c & 0x0F) << 12 | (p[1] & 0x3F) << 6 | (p[2] & 0x3F));
    if (code_point >= 0x800 && (code_point < 0xD800 || code_point > 0xDFFF)) return {code_point, 3, true};
  }
  if (c >= 0xF0 && c <= 0xF4 && continues(1) && continues(2) && continues(3)) {
    const auto code_point =
        static_cast<char32_t>((c & 0x07) << 18 | (p[1] & 0x3F) << 12 | (p[2] & 0x3F) << 6 | (p[3] & 0x3F));
    if (code_point >= 0x10000 && code_point <= 0x10FFFF) return {code_point, 4, true};
  }
  return {0xFFFD, 1, false};
}

inline Decoded decode(std::string_view text) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  return decode(p, p + text.size());
}

inline bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// Bytes at the end of a text that begin a character which the next bytes could complete.
std::size_t incomplete_tail(std::string_view text);

}  // namespace plimsoll::count
