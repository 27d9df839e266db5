// Decodes code points and returns their general category as in the reference tokenizers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace plimsoll::count {

// Unicode's general categories. `cc_space` is separate because \s includes those controls; `cjk` is a
// flag on any category, for a range of code points in DeepSeek's pre-tokeniser.
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
  invalid,  // an invalid byte
  cjk = 0x20,
};
inline constexpr std::size_t category_values = 64;

std::uint8_t category_of(char32_t code_point);

// A flat table of the first four planes, which cover almost all text.
inline constexpr char32_t flat_limit = 0x40000;
const std::uint8_t* flat_categories();

struct Decoded {
  char32_t code_point;
  std::uint8_t length;  // in bytes; 1 for an invalid byte
  bool valid;
};

// Decodes the first character of a non-empty text. Overlong forms, surrogates and values
// above U+10FFFF are invalid bytes.
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

// Returns the bytes of an incomplete character at the end of a text.
std::size_t incomplete_tail(std::string_view text);

}  // namespace plimsoll::count
