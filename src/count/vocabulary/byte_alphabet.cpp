#include "count/vocabulary/byte_alphabet.hpp"

#include <array>

#include "count/split/unicode.hpp"

namespace plimsoll::count {
namespace {

// Printable Latin-1 characters map to themselves; the other 68 bytes, in order, to U+0100 and up.
constexpr std::array<int, 0x144> byte_of = [] {
  std::array<int, 0x144> table{};
  table.fill(-1);
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    table[static_cast<std::size_t>(printable ? byte : next++)] = byte;
  }
  return table;
}();

}  // namespace

std::optional<std::string> from_byte_alphabet(std::string_view token) {
  std::string bytes;
  while (!token.empty()) {
    const Decoded character = decode(token);
    if (!character.valid || character.code_point >= byte_of.size() || byte_of[character.code_point] < 0)
      return std::nullopt;
    bytes += static_cast<char>(byte_of[character.code_point]);
    token.remove_prefix(character.length);
  }
  return bytes;
}

}  // namespace plimsoll::count
