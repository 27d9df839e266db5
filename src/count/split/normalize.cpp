#include "count/split/normalize.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <utf8proc.h>

#include "count/split/scan.hpp"
#include "count/split/unicode.hpp"

namespace plimsoll::count {
namespace {

constexpr std::string_view bar = "\xE2\x96\x81";  // U+2581
using Form = Normalizer::Form;

struct Range {
  char32_t first;
  std::uint8_t value;
};
constexpr Range ranges[] = {
#include "count/split/normal_ranges.inc"
};

// 0: stable in all composing forms, 1: not in NFC, 2: not in NFKC, 3: not in NFKC, but Hugging Face's NFC,
// with tables of 2017, treats it as a character without properties.
std::uint8_t instability(char32_t code_point) {
  return std::prev(std::ranges::upper_bound(ranges, code_point, {}, &Range::first))->value;
}

// The common blocks are in a flat table.
constexpr char32_t stability_limit = 0x20000;
std::vector<std::uint8_t> make_flat() {
  std::vector<std::uint8_t> flat(stability_limit);
  for (char32_t c = 0; c < stability_limit; ++c) flat[c] = instability(c);
  return flat;
}

// Returns the start of the next character that the form may change, at or after `from`; text.size(): none.
std::size_t next_unstable(Form form, std::string_view text, std::size_t from) {
  static const std::vector<std::uint8_t> flat = make_flat();
  const auto* begin = reinterpret_cast<const unsigned char*>(text.data());
  const auto* end = begin + text.size();
  const auto* p = begin + from;
  const bool decomposes = form == Form::nfd || form == Form::nfkd;
  while (p < end) {
    if (*p < 0x80) {
      std::uint64_t eight;
      while (end - p >= 8 && (std::memcpy(&eight, p, 8), (eight & 0x8080808080808080ULL) == 0)) p += 8;
      while (p < end && *p < 0x80) ++p;
      continue;
    }
    const Decoded character = decode(p, end);
    if (character.valid) {
      const std::uint8_t mine = character.code_point < stability_limit ? flat[character.code_point]
                                                                       : instability(character.code_point);
      if (decomposes || mine == 1 || (mine > 1 && form == Form::nfkc))
        return static_cast<std::size_t>(p - begin);
    }
    p += character.length;
  }
  return text.size();
}

utf8proc_option_t options_of(Form form) {
  int options = UTF8PROC_STABLE;
  options |= form == Form::nfc || form == Form::nfkc ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  if (form == Form::nfkc || form == Form::nfkd) options |= UTF8PROC_COMPAT;
  return static_cast<utf8proc_option_t>(options);
}

bool is_inert(Form form, char32_t code_point) {
  if (form != Form::nfc || code_point < 0x300) return false;
  const std::uint8_t mine = instability(code_point);
  return mine == 3 ||
         (mine == 0 &&
          utf8proc_get_property(static_cast<utf8proc_int32_t>(code_point))->combining_class != 0);
}

void append(std::string& out, char32_t code_point) {
  std::array<utf8proc_uint8_t, 4> bytes;
  const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code_point), bytes.data());
  out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(size));
}

// utf8proc sorts the marks of a character by insertion, which is quadratic for a long run of
// marks. So a long cluster is decomposed and sorted first.
std::string with_sorted_marks(Form form, std::string_view cluster) {
  const Form apart = form == Form::nfkc || form == Form::nfkd ? Form::nfkd : Form::nfd;
  struct Mark {
    utf8proc_int32_t code_point;
    int order;  // combining class; 0 starts a new character
  };
  std::vector<Mark> marks;
  std::array<utf8proc_int32_t, 32> parts;
  for (std::size_t i = 0; i < cluster.size();) {
    const Decoded character = decode(cluster.substr(i));
    i += character.length;
    const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(character.code_point),
                                               parts.data(), parts.size(), options_of(apart), nullptr);
    for (utf8proc_ssize_t k = 0; k < std::min<utf8proc_ssize_t>(count, parts.size()); ++k)
      marks.push_back({parts[static_cast<std::size_t>(k)],
                       utf8proc_get_property(parts[static_cast<std::size_t>(k)])->combining_class});
  }
  for (auto from = marks.begin(); from != marks.end();) {
    const auto to = std::find_if(from, marks.end(), [](const Mark& mark) { return mark.order == 0; });
    std::stable_sort(from, to, [](const Mark& a, const Mark& b) { return a.order < b.order; });
    from = to == marks.end() ? to : to + 1;
  }
  std::string out;
  for (const Mark& mark : marks) append(out, static_cast<char32_t>(mark.code_point));
  return out;
}

void append_mapped(std::string& out, Form form, std::string_view valid) {
  constexpr std::size_t long_cluster = 256;
  const std::string sorted = valid.size() > long_cluster ? with_sorted_marks(form, valid) : std::string();
  if (!sorted.empty()) valid = sorted;
  utf8proc_uint8_t* mapped = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(valid.data()),
                                 static_cast<utf8proc_ssize_t>(valid.size()), &mapped, options_of(form));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, &std::free);
  if (size < 0)
    out += valid;
  else
    out.append(reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(size));
}

// Normalises each stable character with the unstable ones after it separately; copies everything else,
// including invalid bytes and unknown characters.
std::string in_form(Form form, std::string_view text) {
  const auto passes = [&](const Decoded& character) {
    return !character.valid || is_inert(form, character.code_point);
  };
  std::string out;
  out.reserve(text.size());
  std::size_t copied = 0;
  for (std::size_t unstable = next_unstable(form, text, 0); unstable < text.size();
       unstable = next_unstable(form, text, copied)) {
    std::size_t begin = unstable;
    while (begin > copied && is_continuation(text[--begin])) {
    }
    if (begin < unstable) {
      // If stray bytes are between them, the previous character is independent.
      const Decoded before = decode(text.substr(begin));
      if (passes(before) || begin + before.length != unstable) begin = unstable;
    }
    std::size_t end = unstable;
    while (end < text.size()) {
      const Decoded character = decode(text.substr(end));
      if (passes(character) ||
          (end > unstable && next_unstable(form, text.substr(0, end + character.length), end) != end))
        break;
      end += character.length;
    }
    out += text.substr(copied, begin - copied);
    append_mapped(out, form, text.substr(begin, end - begin));
    copied = end;
  }
  out += text.substr(copied);
  return out;
}

// What SentencePiece's rule nmt_nfkc does with a character before NFKC.
enum class Nmt : std::uint8_t { normalize, keep, remove, space };
Nmt nmt_of(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\f' || c == '\r') return Nmt::space;
  if (c < 0x20 || c == 0x7F || c == 0x8F || c == 0x9F) return c == 0 ? Nmt::keep : Nmt::remove;
  if (c == 0x1680 || (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
      c == 0xFEFF || c == 0xFFFD)
    return Nmt::space;
  // Newer than its tables, or left as it is on purpose.
  if (c == 0xFF5E || c == 0x32FF || (c >= 0xA7F2 && c <= 0xA7F4) || c == 0xAB69 ||
      (c >= 0x10781 && c <= 0x107BA) || c == 0x1F16C || c == 0x1F23B || (c >= 0x1FBF0 && c <= 0x1FBF9))
    return Nmt::keep;
  return Nmt::normalize;
}

std::string in_nmt_nfkc(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::size_t copied = 0;
  for (std::size_t i = 0; i < text.size();) {
    const Decoded character = decode(text.substr(i));
    const Nmt rule = character.valid ? nmt_of(character.code_point) : Nmt::space;
    if (rule != Nmt::normalize) {
      out += in_form(Form::nfkc, text.substr(copied, i - copied));
      if (rule == Nmt::keep) out += text.substr(i, character.length);
      if (rule == Nmt::space) out += ' ';
      copied = i + character.length;
    }
    i += character.length;
  }
  out += in_form(Form::nfkc, text.substr(copied));
  return out;
}

bool is_han(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

// BERT's normaliser, character by character.
std::string bert(const Normalizer& normalizer, std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const Decoded character = decode(text.substr(i));
    const char32_t c = character.code_point;
    const auto category = static_cast<std::uint8_t>(category_of(c) & ~cjk);
    i += character.length;
    if (normalizer.clean_text) {
      if (c == 0 || c == 0xFFFD ||
          ((category == cc || category == cf || category == co || category == cn || category == cc_space) &&
           c != '\t' && c != '\n' && c != '\r'))
        continue;
      if (is_space(category)) {
        out += ' ';
        continue;
      }
    }
    if (normalizer.strip_accents && category == mn) continue;
    if (normalizer.split_han && is_han(c)) {
      out += ' ';
      append(out, c);
      out += ' ';
      continue;
    }
    append(out, normalizer.lower_case
                    ? static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)))
                    : c);
  }
  return out;
}

// Spaces at the start of a text go; text that continues another keeps one.
std::string collapse(std::string_view text, Place place) {
  std::string out;
  for (const char c : text) {
    const bool is_first = out.empty() && place != Place::inside;
    if (c != ' ' || (!is_first && (out.empty() || out.back() != ' '))) out += c;
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

bool has_prefix(const Normalizer& n, std::string_view text, Place place) {
  return n.prefix_space &&
         (place == Place::text_front || (place == Place::segment_front && !n.prefix_first_only)) &&
         !text.empty() && !(n.prefix_unless_space && text.front() == ' ');
}

}  // namespace

bool is_identity(const Normalizer& n) {
  return n.form == Form::none && !n.bar_is_space && !n.prefix_space && !n.lower_case && !n.strip_accents &&
         !n.clean_text && !n.split_han && !n.collapse_spaces;
}

std::string_view normalize(const Normalizer& n, std::string_view text, Place place, std::string& storage) {
  if (is_identity(n)) return text;
  const auto keep = [&](std::string changed) {
    storage = std::move(changed);
    text = storage;
  };
  if (n.form == Form::nmt_nfkc)
    keep(in_nmt_nfkc(text));
  else if (n.form != Form::none && next_unstable(n.form, text, 0) < text.size())
    keep(in_form(n.form, text));
  if (n.clean_text || n.split_han || n.lower_case || n.strip_accents) {
    // Accents are removed from decomposed text; cleaning comes before decomposing.
    if (n.strip_accents) {
      Normalizer cleaning = n;
      cleaning.strip_accents = cleaning.lower_case = false;
      keep(in_form(Form::nfd, bert(cleaning, text)));
      Normalizer rest{.lower_case = n.lower_case, .strip_accents = true};
      keep(bert(rest, text));
    } else {
      keep(bert(n, text));
    }
  }
  if (n.bar_is_space && text.find(bar) != std::string_view::npos) {
    std::string spaced;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t found = std::min(text.find(bar, at), text.size());
      spaced += text.substr(at, found - at);
      if (found < text.size()) spaced += ' ';
      at = found + bar.size();
    }
    keep(std::move(spaced));
  }
  if (n.collapse_spaces) keep(collapse(text, place));
  if (has_prefix(n, text, place)) keep(" " + std::string(text));
  return text;
}

bool stands_apart(const Normalizer& n, std::string_view text) {
  if (n.form == Form::nmt_nfkc) return stands_apart({.form = Form::nfkc}, text);
  if (n.form == Form::none && !n.strip_accents) return true;
  const Decoded character = decode(text);
  if (character.code_point < 0x300 || !character.valid || is_inert(n.form, character.code_point)) return true;
  const bool composes = n.form == Form::nfc || n.form == Form::nfkc;
  if (composes && instability(character.code_point) == 0) return true;
  // The first character of its decomposition decides.
  const bool compat = n.form == Form::nfkc || n.form == Form::nfkd;
  const std::string parts = in_form(compat ? Form::nfkd : Form::nfd, text.substr(0, character.length));
  const char32_t first = decode(parts).code_point;
  if (utf8proc_get_property(static_cast<utf8proc_int32_t>(first))->combining_class != 0) return false;
  // A second half that is not a mark, such as a Hangul vowel, is in the composition table.
  return !composes || instability(first) == 0 || instability(first) == 2;
}

std::size_t normalization_border(const Normalizer& n, std::string_view text) {
  if (n.collapse_spaces || n.strip_accents || n.clean_text) {
    // Between two ASCII letters, digits or signs no space is folded and no mark removed.
    const auto plain = [](char c) { return c > ' ' && c < 0x7F; };
    for (std::size_t i = text.size(); i > 1; --i) {
      if (plain(text[i - 1]) && plain(text[i - 2])) return i - 1;
    }
    return 0;
  }
  if (n.form == Form::none) return text.size();
  std::size_t border = text.size();
  while (border > 0) {
    do --border;
    while (border > 0 && is_continuation(text[border]));
    if (stands_apart(n, text.substr(border))) return border;
  }
  return 0;
}

}  // namespace plimsoll::count
