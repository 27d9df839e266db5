#include "base/text/words_fold.hpp"

#include <algorithm>

#include <utf8proc.h>

namespace plimsoll::base {

namespace {

struct Range {
  char32_t first, last;
};

constexpr std::array<Range, 17> unspaced_ranges{{
    {0x0E00, 0x0EFF},    // Thai, Lao
    {0x0F00, 0x0FFF},    // Tibetan
    {0x1000, 0x109F},    // Burmese
    {0x1100, 0x11FF},    // Hangul jamo
    {0x1780, 0x17FF},    // Khmer
    {0x2E80, 0x2FDF},    // CJK radicals
    {0x3005, 0x3007},    // ideographic iteration mark and zero
    {0x3021, 0x3029},    // Hangzhou numerals
    {0x3041, 0x30FF},    // Hiragana, Katakana
    {0x3105, 0x312F},    // Bopomofo
    {0x3131, 0x318E},    // Hangul compatibility jamo
    {0x31F0, 0x31FF},    // Katakana extensions
    {0x3400, 0x9FFF},    // Han
    {0xAC00, 0xD7FF},    // Hangul
    {0xF900, 0xFAFF},    // Han, compatibility
    {0xFF66, 0xFFDC},    // half-width Katakana and Hangul
    {0x20000, 0x3FFFF},  // Han, extensions
}};

bool is_unspaced(char32_t c) {
  const auto* range = std::lower_bound(unspaced_ranges.begin(), unspaced_ranges.end(), c,
                                       [](const Range& one, char32_t value) { return one.last < value; });
  return range != unspaced_ranges.end() && range->first <= c;
}

// Accents that users often omit; the vowel signs of Indic scripts are not accents.
bool is_accent(char32_t c) {
  return (c >= 0x0300 && c <= 0x036F) || (c >= 0x0591 && c <= 0x05BD) || (c >= 0x064B && c <= 0x0652) ||
         c == 0x0670 || (c >= 0x1AB0 && c <= 0x1AFF) || (c >= 0x1DC0 && c <= 0x1DFF);
}

bool is_word(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO: return true;
    default: return false;
  }
}

// Letters without a Unicode decomposition, and their usual replacement.
std::string_view written_without_key(char32_t c) {
  switch (c) {
    case 0x00E6: return "ae";
    case 0x00F0:
    case 0x0111: return "d";
    case 0x00F8: return "o";
    case 0x00FE: return "th";
    case 0x0131: return "i";
    case 0x0142: return "l";
    case 0x0153: return "oe";
    default: return {};
  }
}

bool append(FoldedCharacter& folded, std::string_view bytes) {
  if (folded.size + bytes.size() > folded.bytes.size()) return false;
  std::copy(bytes.begin(), bytes.end(), folded.bytes.begin() + folded.size);
  folded.size = static_cast<std::uint8_t>(folded.size + bytes.size());
  return true;
}

bool append(FoldedCharacter& folded, char32_t c) {
  const std::string_view written = written_without_key(c);
  if (!written.empty()) return append(folded, written);
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes.data());
  return append(folded, {reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(size)});
}

// Decomposes, lowers the case, removes accents and characters that are not part of a word.
void fold_word(FoldedCharacter& folded) {
  std::array<utf8proc_int32_t, 32> parts{};
  int boundary = 0;
  const auto count = utf8proc_decompose_char(
      static_cast<utf8proc_int32_t>(folded.code_point), parts.data(),
      static_cast<utf8proc_ssize_t>(parts.size()),
      static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD), &boundary);
  bool fits = count >= 0 && count <= static_cast<utf8proc_ssize_t>(parts.size());
  for (utf8proc_ssize_t i = 0; fits && i < count; ++i) {
    const auto part = static_cast<char32_t>(parts[static_cast<std::size_t>(i)]);
    if (!is_accent(part) && is_word(part)) fits = append(folded, part);
  }
  if (fits) return;
  folded.size = 0;  // too long, such as a phrase in one character: kept as it is
  append(folded, folded.code_point);
}

FoldedCharacter fold(char32_t c) {
  FoldedCharacter folded;
  folded.code_point = c;
  if (is_unspaced(c) && is_word(c)) {
    folded.kind = CharacterKind::unspaced;
    append(folded, c);
  } else if (is_accent(c)) {
    folded.kind = CharacterKind::mark;
  } else if (is_word(c)) {
    folded.kind = CharacterKind::word;
    fold_word(folded);
  }
  return folded;
}

}  // namespace

DecodedCharacter decode_utf8(std::string_view text, std::size_t at) {
  utf8proc_int32_t c = -1;
  const auto bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                                      static_cast<utf8proc_ssize_t>(text.size() - at), &c);
  if (bytes <= 0 || c < 0) return {};
  return {static_cast<char32_t>(c), static_cast<std::size_t>(bytes)};
}

const FoldedCharacter& fold_character(char32_t code_point) {
  // A text uses a few hundred characters; this cache is ten times faster than a lookup.
  static thread_local std::array<FoldedCharacter, 1024> known;
  FoldedCharacter& slot = known[code_point % known.size()];
  if (slot.code_point != code_point) slot = fold(code_point);
  return slot;
}

}  // namespace plimsoll::base
