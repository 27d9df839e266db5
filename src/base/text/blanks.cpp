#include "base/text/blanks.hpp"

namespace plimsoll::base {

std::size_t white_at(std::string_view text, std::size_t at) {
  if (at >= text.size()) return 0;
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const unsigned first = byte(0);
  if (first == ' ' || (first >= '\t' && first <= '\r')) return 1;
  if (first < 0xC2) return 0;
  if (first == 0xC2) return byte(1) == 0xA0 || byte(1) == 0x85 ? 2 : 0;  // U+00A0, U+0085
  if (first == 0xE2) {
    if (byte(1) == 0x80) {  // U+2000 to U+200B, U+2028, U+2029, U+202F
      const unsigned third = byte(2);
      return (third >= 0x80 && third <= 0x8B) || third == 0xA8 || third == 0xA9 || third == 0xAF ? 3 : 0;
    }
    return byte(1) == 0x81 && byte(2) == 0x9F ? 3 : 0;  // U+205F
  }
  if (first == 0xE3) return byte(1) == 0x80 && byte(2) == 0x80 ? 3 : 0;  // U+3000
  if (first == 0xEF) return byte(1) == 0xBB && byte(2) == 0xBF ? 3 : 0;  // U+FEFF
  return 0;
}

Span trimmed(std::string_view text, Span span) {
  while (span.start < span.end) {
    const std::size_t white = white_at(text.substr(0, span.end), span.start);
    if (white == 0) break;
    span.start += white;
  }
  while (span.end > span.start) {
    std::size_t last = span.end - 1;
    while (last > span.start && (static_cast<unsigned char>(text[last]) & 0xC0U) == 0x80U) --last;
    if (last + white_at(text.substr(0, span.end), last) != span.end) break;
    span.end = last;
  }
  return span;
}

std::string with_single_blanks(std::string_view text) {
  std::string out;
  bool gap = false;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t white = white_at(text, at); white > 0) {
      gap = !out.empty();
      at += white;
      continue;
    }
    if (gap) out += ' ';
    gap = false;
    out += text[at++];
  }
  return out;
}

}  // namespace plimsoll::base
