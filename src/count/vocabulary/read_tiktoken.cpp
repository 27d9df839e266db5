#include <algorithm>
#include <array>
#include <charconv>

#include "base/try.hpp"
#include "count/vocabulary/readers.hpp"

namespace plimsoll::count {

Result<std::string> decode_base64(std::string_view text) {
  static constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int held = 0;
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  for (const char c : text) {
    const std::size_t digit = alphabet.find(c);
    if (digit == std::string_view::npos) return fail(Errc::bad_input, "'{}' is not base64", text);
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes += static_cast<char>(bits >> held & 0xff);
    }
  }
  return bytes;
}

Result<Definition> read_tiktoken(std::string_view file) {
  Definition definition;
  definition.info.kind = "byte-level BPE";
  definition.by_rank = true;
  definition.whole_piece_first = true;
  definition.splitter = Splitter::cl100k;
  std::size_t line_number = 0;
  while (!file.empty()) {
    const std::size_t length = std::min(file.find('\n'), file.size());
    const std::string_view line = file.substr(0, length);
    file.remove_prefix(std::min(length + 1, file.size()));
    ++line_number;
    if (line.empty()) continue;
    const std::size_t space = line.find(' ');
    TokenId rank = 0;
    const char* digits = line.data() + std::min(space, line.size() - 1) + 1;
    const auto parsed = std::from_chars(digits, line.data() + line.size(), rank);
    if (space == std::string_view::npos || parsed.ec != std::errc{})
      return fail(Errc::bad_input, "line {} is not a token in base64, a space and its rank", line_number);
    auto bytes = decode_base64(line.substr(0, space));
    if (!bytes) return fail(Errc::bad_input, "line {}: {}", line_number, bytes.error().what);
    definition.tokens.push_back({*std::move(bytes), rank, 0});
  }
  std::ranges::sort(definition.tokens, {}, &VocabularyEntry::id);
  return definition;
}

}  // namespace plimsoll::count
