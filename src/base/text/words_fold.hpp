// Character classes and folding. Private to base/words.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace plimsoll::base {

enum class CharacterKind : std::uint8_t {
  separator,
  word,
  mark,     // an accent: part of a word, and dropped
  unspaced  // in a script without spaces
};

struct FoldedCharacter {
  char32_t code_point = 0;
  CharacterKind kind = CharacterKind::separator;
  std::uint8_t size = 0;
  std::array<char, 12> bytes{};  // UTF-8; empty for separators and marks

  std::string_view text() const { return {bytes.data(), size}; }
};

struct DecodedCharacter {
  char32_t code_point = 0;
  std::size_t bytes = 1;  // 1 if the sequence is invalid; then the code point is 0
};

// Decodes the character at `at`, which must be inside the text.
DecodedCharacter decode_utf8(std::string_view text, std::size_t at);

// Not for ASCII. The reference is valid until the next call on this thread.
const FoldedCharacter& fold_character(char32_t code_point);

}  // namespace plimsoll::base
