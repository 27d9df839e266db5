#include "base/json/json_text.hpp"

#include <cstdint>
#include <cstring>

#include "base/text/text.hpp"

namespace plimsoll::base {
namespace {

bool is_plain(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
}

bool is_ascii(std::string_view text) {
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data() + at, 8);
    if ((eight & 0x8080'8080'8080'8080U) != 0) return false;
  }
  for (; at < text.size(); ++at)
    if (static_cast<unsigned char>(text[at]) >= 0x80) return false;
  return true;
}

void append_escape(std::string& out, char c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    default: break;
  }
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out += "\\u00";
  out += digits[byte >> 4];
  out += digits[byte & 15U];
}

// Returns the position of the next byte that needs an escape; text.size(): none. Handles eight bytes at a
// time: a subtraction borrows from the next byte only after a match, so the first byte found is a real match.
std::size_t find_escape(std::string_view text, std::size_t at) {
  constexpr std::uint64_t each = 0x0101'0101'0101'0101U, high = 0x80 * each;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data() + at, 8);
    const std::uint64_t quote = eight ^ (each * '"'), backslash = eight ^ (each * '\\');
    const std::uint64_t control = (eight - each * 0x20) & ~eight;
    if (((control | ((quote - each) & ~quote) | ((backslash - each) & ~backslash)) & high) != 0) break;
  }
  while (at < text.size() && is_plain(text[at])) ++at;
  return at;
}

// Appends well-formed UTF-8, in runs that need no escape.
void append_escaped(std::string& out, std::string_view text) {
  for (std::size_t from = 0;;) {
    const std::size_t at = find_escape(text, from);
    out.append(text, from, at - from);
    if (at == text.size()) return;
    append_escape(out, text[at]);
    from = at + 1;
  }
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  if (is_ascii(text)) {
    append_escaped(out, text);
  } else {
    while (true) {
      const std::size_t bad = find_invalid_utf8(text);
      append_escaped(out, text.substr(0, bad));
      if (bad == std::string_view::npos) break;
      out += "\uFFFD";
      text.remove_prefix(bad + 1);
    }
  }
  out += '"';
}

std::string readable_json(const nlohmann::ordered_json& value) {
  return value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void append_json_on_one_line(std::string& out, std::string_view json) {
  const char* at = json.data();
  const char* const end = at + json.size();
  while (at != end) {
    const auto* line_end =
        static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    if (line_end == nullptr) line_end = end;
    out.append(at, line_end);
    at = line_end;
    while (at != end && (*at == '\n' || *at == ' ')) ++at;
  }
}

}  // namespace plimsoll::base
