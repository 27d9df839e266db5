#include "base/text/sentences.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <utf8proc.h>

#include "base/text/blanks.hpp"
#include "base/text/text.hpp"

namespace plimsoll::base {
namespace {

using namespace std::string_view_literals;

// Abbreviations that are followed by a name.
constexpr std::array titles{"mr"sv,  "mrs"sv, "ms"sv,  "dr"sv,   "prof"sv, "st"sv,  "mt"sv,    "rev"sv,
                            "hon"sv, "gen"sv, "col"sv, "capt"sv, "lt"sv,   "sgt"sv, "maj"sv,   "sen"sv,
                            "rep"sv, "gov"sv, "cf"sv,  "vs"sv,   "viz"sv,  "ca"sv,  "approx"sv};
// Abbreviations that are followed by a number.
constexpr std::array numbered{"no"sv,  "nos"sv, "fig"sv, "figs"sv, "eq"sv,  "eqs"sv, "sec"sv,  "ch"sv,
                              "vol"sv, "p"sv,   "pp"sv,  "art"sv,  "ref"sv, "tab"sv, "jan"sv,  "feb"sv,
                              "mar"sv, "apr"sv, "jun"sv, "jul"sv,  "aug"sv, "sep"sv, "sept"sv, "oct"sv,
                              "nov"sv, "dec"sv, "par"sv, "op"sv,   "nr"sv};

// Returns whether the full stop at `stop` belongs to an abbreviation. `next`: the first letter after it.
bool is_abbreviation(std::string_view text, std::size_t start, std::size_t stop, char next) {
  constexpr std::size_t longest = 12;
  std::size_t begin = stop;
  while (begin > start && stop - begin <= longest &&
         (is_letter(text[begin - 1]) || is_digit(text[begin - 1]) || text[begin - 1] == '.'))
    --begin;
  const std::string_view word = text.substr(begin, stop - begin);
  if (word.empty() || word.size() > longest) return false;
  if (std::all_of(word.begin(), word.end(), is_digit)) {
    // "1. First": a number at the start of a line.
    std::size_t line = begin;
    while (line > start && (text[line - 1] == ' ' || text[line - 1] == '\t')) --line;
    return line == start || text[line - 1] == '\n' || text[line - 1] == '"' || text[line - 1] == '\'';
  }
  if (word.size() == 1 && is_upper(word[0])) return word[0] != 'I';
  const std::string lower = to_lower_ascii(word);
  if (lower.find('.') != std::string::npos) {
    if ((lower == "a.m" || lower == "p.m") && is_upper(next)) return false;
    // "e.g", "U.S": a letter between stops.
    const std::size_t last = lower.rfind('.');
    return lower.size() - last <= 3 && lower.find('.') <= 2;
  }
  if (std::find(titles.begin(), titles.end(), lower) != titles.end()) return true;
  return is_digit(next) && std::find(numbered.begin(), numbered.end(), lower) != numbered.end();
}

bool is_lower_at(std::string_view text, std::size_t at) {
  const char c = text[at];
  if ((c & '\x80') == 0) return c >= 'a' && c <= 'z';
  utf8proc_int32_t point = -1;
  utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                   static_cast<utf8proc_ssize_t>(std::min<std::size_t>(text.size() - at, 4)), &point);
  return point >= 0 && utf8proc_category(point) == UTF8PROC_CATEGORY_LL;
}

// Returns the size of a mark that ends a sentence without a blank after it: 。！？｡
std::size_t wide_stop(std::string_view text, std::size_t at) {
  const std::string_view mark = text.substr(at, 3);
  return mark == "\xE3\x80\x82" || mark == "\xEF\xBC\x81" || mark == "\xEF\xBC\x9F" || mark == "\xEF\xBD\xA1"
             ? 3
             : 0;
}

// Returns the size of a mark that ends a sentence if a blank follows: . ! ? … । ؟
std::size_t stop_bytes(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '.' || c == '!' || c == '?') return 1;
  if (c == '\xE2' && text.substr(at, 3) == "\xE2\x80\xA6") return 3;
  if (c == '\xE0' && text.substr(at, 3) == "\xE0\xA5\xA4") return 3;
  if (c == '\xD8' && text.substr(at, 2) == "\xD8\x9F") return 2;
  return 0;
}

// Returns the size of a closing quote, bracket or emphasis mark after a sentence.
std::size_t closer_bytes(std::string_view text, std::size_t at) {
  if (at >= text.size()) return 0;
  if ("\"')]}*_"sv.find(text[at]) != std::string_view::npos) return 1;
  if (text.substr(at, 2) == "\xC2\xBB") return 2;  // »
  for (const std::string_view mark :
       {"\xE2\x80\x9D"sv, "\xE2\x80\x99"sv, "\xE3\x80\x8D"sv, "\xE3\x80\x8F"sv, "\xEF\xBC\x89"sv})
    if (text.substr(at, 3) == mark) return 3;
  return 0;
}

std::size_t behind_closers(std::string_view text, std::size_t at) {
  while (true) {
    const std::size_t closer = closer_bytes(text, at);
    if (closer == 0) return at;
    at += closer;
  }
}

// Returns the size of escaped line ends, as in JSON, logs and code: "\\n", "\\r\\n".
std::size_t written_line_ends(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end + 1 < text.size() && text[end] == '\\' && (text[end + 1] == 'n' || text[end + 1] == 'r'))
    end += 2;
  return end - at;
}

// Returns the position after the end of a string in a list of strings: `.", "role"`; 0: none ends at `at`.
std::size_t behind_string(std::string_view text, std::size_t at) {
  if (at >= text.size() || text[at] != ',') return 0;
  if (text[at - 1] != '"' && text[at - 1] != '\'' && text[at - 1] != '}' && text[at - 1] != ']') return 0;
  const std::size_t next = at + 1 + white_at(text, at + 1);
  return next < text.size() && "\"'{["sv.find(text[next]) != std::string_view::npos ? at + 1 : 0;
}

// Returns the end of the sentence with its stop at `stop`, or 0 if it is not an end. `text` ends with the
// block.
std::size_t sentence_end(std::string_view text, std::size_t start, std::size_t stop) {
  std::size_t end = stop;
  for (std::size_t bytes = 0; end < text.size() && (bytes = stop_bytes(text, end)) > 0;) end += bytes;
  const bool single = end == stop + 1 && text[stop] == '.';
  end = behind_closers(text, end);
  if (const std::size_t string_end = behind_string(text, end); string_end > 0) return string_end;
  std::size_t next = end;
  for (std::size_t white = 0; (white = white_at(text, next)) > 0;) next += white;
  if (next >= text.size()) return text.size();
  if (next == end) {
    const std::size_t written = written_line_ends(text, end);
    const bool number = single && is_abbreviation(text, start, stop, '0');
    return written > 0 && !number ? end + written : 0;
  }
  if (is_lower_at(text, next)) return 0;
  if (single && is_abbreviation(text, start, stop, text[next])) return 0;
  return end;
}

void add(std::string_view text, Span span, std::vector<Span>& into) {
  span = trimmed(text, span);
  if (span.size() > 0) into.push_back(span);
}

}  // namespace

void add_sentences(std::string_view text, Span span, bool wrapped, std::vector<Span>& into) {
  const std::string_view block = text.substr(0, span.end);
  std::size_t start = span.start;
  std::size_t looked = span.start;  // stops before this were checked
  for (std::size_t at = span.start; at < span.end;) {
    const char c = block[at];
    std::size_t end = 0;
    if (c == '\n' || c == '\r') {
      const bool blank_line = at + 1 < span.end && block[at] == '\n' && block[at + 1] == '\n';
      if (!wrapped || blank_line) end = at + 1;
    } else if (const std::size_t wide = (c & '\x80') != 0 ? wide_stop(block, at) : 0; wide > 0) {
      end = behind_closers(block, at + wide);
    } else if (at >= looked && stop_bytes(block, at) > 0) {
      end = sentence_end(block, start, at);
      // A row of stops is checked once, from its first.
      looked = at;
      for (std::size_t bytes = 0; looked < span.end && (bytes = stop_bytes(block, looked)) > 0;)
        looked += bytes;
    } else if (c == '\\') {
      // One may be part of a path; two are the end of a paragraph.
      const std::size_t written = written_line_ends(block, at);
      if (written >= 4) end = at + written;
    }
    if (end > 0) {
      add(text, {start, end}, into);
      start = at = std::max(end, at + 1);
    } else {
      ++at;
    }
  }
  add(text, {start, span.end}, into);
}

}  // namespace plimsoll::base
