#include "strategy/words.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include <utf8proc.h>

#include "base/text/text.hpp"

namespace plimsoll::strategy {
namespace {

enum class Kind : std::uint8_t { word, mark, joiner, other };

constexpr utf8proc_int32_t first_of_cjk = 0x2E80;  // from here on, scripts without spaces between words

Kind kind_of(utf8proc_int32_t c) {
  switch (c) {
    case '\t':
    case '\n':
    case '\v':
    case '\f':
    case '\r':
    case '-':
    case '_':
    case '\'':
    case '`':
    case 0x02BC:  // apostrophes of other keyboards
    case 0x2018:
    case 0x2019:
    case 0x201B:
    case 0x2010:  // hyphens
    case 0x2011:
    case 0x2012: return Kind::joiner;
    default: break;
  }
  if (c >= first_of_cjk) return Kind::other;
  switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO: return Kind::word;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME: return Kind::mark;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return Kind::joiner;
    default: return Kind::other;
  }
}

// Replaces invalid bytes by full stops, which separate words.
std::string mended(std::string_view text) {
  std::string out(text);
  for (std::size_t at = 0;;) {
    const std::size_t bad = base::find_invalid_utf8(std::string_view(out).substr(at));
    if (bad == std::string_view::npos) return out;
    out[at + bad] = '.';
    at += bad + 1;
  }
}

std::string folded(std::string_view query) {
  if (std::ranges::all_of(query, [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
    return base::to_lower_ascii(query);
  const std::string text = mended(query);
  utf8proc_uint8_t* raw = nullptr;
  const auto size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &raw,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_COMPOSE |
                                                  UTF8PROC_CASEFOLD | UTF8PROC_IGNORE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(raw, &std::free);
  if (size < 0) return base::to_lower_ascii(text);
  return {reinterpret_cast<const char*>(raw), static_cast<std::size_t>(size)};
}

}  // namespace

Words::Words(std::string_view query) : folded_(folded(query)) {
  split();
}

void Words::split() {
  bool inside = false;
  bool joined = false;  // the first word is not joined to a previous one
  std::size_t at = 0;
  while (at < folded_.size()) {
    utf8proc_int32_t c = 0;
    const auto read = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(folded_.data()) + at,
                                       static_cast<utf8proc_ssize_t>(folded_.size() - at), &c);
    const auto size = static_cast<std::size_t>(std::max<utf8proc_ssize_t>(read, 1));
    const Kind kind = read > 0 ? kind_of(c) : Kind::other;
    if (kind == Kind::word || (kind == Kind::mark && inside)) {
      if (!inside) list_.push_back({at, 0, joined});
      list_.back().size += size;
      inside = joined = true;
    } else if (kind != Kind::mark) {
      inside = false;
      joined = joined && kind == Kind::joiner;
    }
    at += size;
  }
}

std::vector<std::string_view> words_of_signal(std::string_view signal) {
  std::vector<std::string_view> words;
  for (std::size_t space = signal.find(' '); space != std::string_view::npos; space = signal.find(' ')) {
    words.push_back(signal.substr(0, space));
    signal.remove_prefix(space + 1);
  }
  words.push_back(signal);
  return words;
}

bool inflected(std::string_view word, std::string_view base) {
  if (base.empty()) return word.empty();
  const std::string_view stem = base.substr(0, base.size() - 1);
  if (!word.starts_with(stem)) return false;
  const char last = base.back();
  if (word.starts_with(base)) {
    const std::string_view ending = word.substr(base.size());
    if (ending.empty() || ending == "s" || ending == "ed" || ending == "ing" || ending == "ly") return true;
    if (ending == "d") return last == 'e';
    if (ending == "es")
      return std::string_view("sxz").find(last) != std::string_view::npos || base.ends_with("ch") ||
             base.ends_with("sh");
  }
  const std::string_view ending = word.substr(stem.size());
  return (last == 'e' && ending == "ing") || (last == 'y' && (ending == "ies" || ending == "ied"));
}

}  // namespace plimsoll::strategy
