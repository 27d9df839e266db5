// Maps the text of a page's node to its positions in the source.
#pragma once

#include <cstdint>
#include <string_view>

namespace plimsoll::ingest {

// Walks along the decoded and the raw text, which differ in entities, line ends and ignored tags. Calls
// same(piece, offset) for equal pieces, with offsets from the start of `raw`, and made(piece) for
// the rest. Together the pieces are all of `decoded`, in order. Linear.
template <typename Same, typename Made>
void align(std::string_view decoded, std::string_view raw, Same same, Made made);

namespace html_detail {

inline bool is_name(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

inline std::size_t character_bytes(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

// Returns the size of the reference at the start of `raw` ("&eacute;"); the text after it decodes to `rest`.
inline std::size_t reference_bytes(std::string_view raw, std::string_view rest) {
  constexpr std::size_t longest = 34;  // "&CounterClockwiseContourIntegral;"
  std::size_t end = 1;
  if (end < raw.size() && raw[end] == '#') ++end;
  while (end < raw.size() && end < longest && is_name(raw[end])) ++end;
  if (end < raw.size() && raw[end] == ';') return end + 1;
  // Old names need no semicolon: "&copy2026". The name ends where both texts are equal again.
  for (std::size_t shorter = end; shorter > 2; --shorter)
    if (rest.starts_with(raw.substr(shorter, 4))) return shorter;
  return end;
}

// Returns the size of an escaped '&', or 0 for a bare one.
inline std::size_t ampersand_bytes(std::string_view raw) {
  for (const std::string_view form : {"&amp;", "&AMP;", "&#38;", "&#x26;", "&#X26;", "&amp", "&AMP"})
    if (raw.starts_with(form)) return form.size();
  return 0;
}

}  // namespace html_detail

template <typename Same, typename Made>
void align(std::string_view decoded, std::string_view raw, Same same, Made made) {
  using namespace html_detail;
  std::size_t at = 0;
  std::size_t from = 0;  // in raw
  while (at < decoded.size()) {
    std::size_t run = 0;
    while (at + run < decoded.size() && from + run < raw.size() && raw[from + run] != '&' &&
           decoded[at + run] == raw[from + run])
      ++run;
    if (run > 0) {
      same(decoded.substr(at, run), from);
      at += run;
      from += run;
      continue;
    }
    if (from >= raw.size()) {
      made(decoded.substr(at));
      return;
    }
    if (raw[from] == '&' && decoded[at] == '&') {
      same(decoded.substr(at, 1), from);
      const std::size_t bytes = ampersand_bytes(raw.substr(from));
      ++at;
      from += bytes > 0 ? bytes : 1;
      continue;
    }
    if (raw[from] == '<') {  // an ignored tag, or one whose text is elsewhere
      const std::size_t end = raw.find('>', from);
      from = end == std::string_view::npos ? raw.size() : end + 1;
      continue;
    }
    if (raw[from] == '\r' && decoded[at] == '\n') {
      made(decoded.substr(at, 1));
      ++at;
      from += raw.substr(from).starts_with("\r\n") ? 2 : 1;
      continue;
    }
    const std::size_t bytes = character_bytes(decoded[at]);
    made(decoded.substr(at, bytes));
    at = at + bytes < decoded.size() ? at + bytes : decoded.size();
    if (raw[from] == '&') from += reference_bytes(raw.substr(from), decoded.substr(at));
  }
}

}  // namespace plimsoll::ingest
