#include "memory/fact_text.hpp"

namespace plimsoll::memory {
namespace {

// Line and paragraph separators, and NEL, which break lines like a line feed.
std::size_t line_break_at(std::string_view text) {
  for (const std::string_view one : {"\xE2\x80\xA8", "\xE2\x80\xA9", "\xC2\x85"})
    if (text.starts_with(one)) return one.size();
  return 0;
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string out;
  bool space = false;
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t breaks = first <= ' ' || first == 0x7F ? 1 : line_break_at(text);
    if (breaks > 0) {
      space = true;
      text.remove_prefix(breaks);
      continue;
    }
    if (space && !out.empty()) out += ' ';
    space = false;
    out += text.front();
    text.remove_prefix(1);
  }
  return out;
}

}  // namespace plimsoll::memory
