#include "ingest/read/decode.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/text/text.hpp"

namespace plimsoll::ingest {
namespace {

// An origin costs as much memory as 24 characters; above this number positions are dropped.
constexpr std::size_t most_origins = 1'000'000;
constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

void append_utf8(std::string& text, std::uint32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xC0U | (c >> 6U));
    text += static_cast<char>(0x80U | (c & 0x3FU));
  } else if (c < 0x10000) {
    text += static_cast<char>(0xE0U | (c >> 12U));
    text += static_cast<char>(0x80U | ((c >> 6U) & 0x3FU));
    text += static_cast<char>(0x80U | (c & 0x3FU));
  } else {
    text += static_cast<char>(0xF0U | (c >> 18U));
    text += static_cast<char>(0x80U | ((c >> 12U) & 0x3FU));
    text += static_cast<char>(0x80U | ((c >> 6U) & 0x3FU));
    text += static_cast<char>(0x80U | (c & 0x3FU));
  }
}

std::string from_utf16(std::string_view bytes, bool little) {
  const auto unit = [&](std::size_t at) {
    const auto low = static_cast<unsigned char>(bytes[at + (little ? 0 : 1)]);
    const auto high = static_cast<unsigned char>(bytes[at + (little ? 1 : 0)]);
    return static_cast<std::uint32_t>(low | (high << 8U));
  };
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) {
    std::uint32_t c = unit(at);
    if (c >= 0xD800 && c <= 0xDFFF) {
      const std::uint32_t next = c < 0xDC00 && at + 3 < bytes.size() ? unit(at + 2) : 0;
      if (next >= 0xDC00 && next <= 0xDFFF) {
        c = 0x10000 + ((c - 0xD800) << 10U) + (next - 0xDC00);
        at += 2;
      } else {
        c = 0xFFFD;
      }
    }
    append_utf8(text, c == 0 ? 0xFFFD : c);
  }
  return text;
}

// Windows-1252 characters in place of Latin-1's control characters; 0: undefined.
constexpr std::array<std::uint16_t, 32> windows_1252{
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

struct Census {
  std::size_t nul = 0;
  std::size_t control = 0;
  std::size_t high = 0;     // bytes above ASCII
  std::size_t good = 0;     // characters of more than one byte
  std::size_t invalid = 0;  // invalid bytes
};

// Returns the position of the next invalid UTF-8 sequence from `at`; counts the characters before it.
std::size_t next_invalid(std::string_view bytes, std::size_t at) {
  const std::size_t found = base::find_invalid_utf8(bytes.substr(at));
  return found == std::string_view::npos ? bytes.size() : at + found;
}

Census take_census(std::string_view bytes) {
  Census census;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    census.nul += byte == 0 ? 1 : 0;
    census.control += (byte < 0x20 && (byte < '\t' || byte > '\r') && byte != 0x1B) || byte == 0x7F ? 1 : 0;
    census.high += byte >= 0x80 ? 1 : 0;
  }
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = next_invalid(bytes, at);
    if (end < bytes.size()) ++census.invalid;
    if (census.invalid > 0)  // otherwise not needed
      for (std::size_t i = at; i < end; ++i)
        census.good += static_cast<unsigned char>(bytes[i]) >= 0xC0 ? 1 : 0;
    at = end + 1;
  }
  return census;
}

// Copies unchanged bytes with their origins, and calls `make` for each changed byte.
template <typename IsSame, typename Make>
void copy_with_origins(std::string_view bytes, Decoded& into, IsSame run_end, Make make) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = run_end(at);
    if (end > at) {
      if (into.origins.size() < most_origins)
        into.origins.push_back({.text = into.made.size(), .source = at, .bytes = end - at});
      else
        into.addressable = false;
      into.made += bytes.substr(at, end - at);
    }
    if (end < bytes.size()) make(static_cast<unsigned char>(bytes[end]));
    at = end + 1;
  }
  if (into.origins.empty()) into.addressable = false;
  if (!into.addressable) into.origins.clear();
}

void from_windows_1252(std::string_view bytes, Decoded& into) {
  copy_with_origins(
      bytes, into,
      [&](std::size_t at) {
        while (at < bytes.size() && static_cast<unsigned char>(bytes[at]) < 0x80) ++at;
        return at;
      },
      [&](unsigned char byte) {
        const std::uint32_t c = byte < 0xA0 ? windows_1252.at(byte - 0x80U) : byte;
        append_utf8(into.made, c == 0 ? 0xFFFD : c);
      });
}

}  // namespace

Result<void> decode(std::string_view bytes, Decoded& into) {
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) {
    into.made = from_utf16(bytes.substr(2), bytes.front() == '\xFF');
    const Census census = take_census(into.made);
    if (census.control * 10 > into.made.size())
      return fail(Errc::unsupported, "binary: of {} bytes of UTF-16, {} are control characters", bytes.size(),
                  census.control);
    into.addressable = false;
    into.text = into.made;
    return {};
  }
  const Census census = take_census(bytes);
  if (census.nul > 0) return fail(Errc::unsupported, "binary: it has {} NUL bytes", census.nul);
  if (census.control * 10 > bytes.size())
    return fail(Errc::unsupported, "binary: of its {} bytes, {} are control characters", bytes.size(),
                census.control);
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (census.invalid == 0) {
    into.text = bytes;
    if (bytes.starts_with(mark)) {
      into.text.remove_prefix(mark.size());
      into.origins.push_back({.text = 0, .source = mark.size(), .bytes = into.text.size()});
      if (into.text.empty()) into.origins.clear();
    }
    return {};
  }
  // If most multi-byte characters are valid, the text is UTF-8 with errors.
  if (census.good >= census.invalid) {
    copy_with_origins(
        bytes, into, [&](std::size_t at) { return next_invalid(bytes, at); },
        [&](unsigned char) { into.made += replacement; });
    into.warning = fmt::format("{} bytes are not UTF-8 and were replaced",
                               base::with_thousands(static_cast<std::int64_t>(census.invalid)));
  } else {
    if (census.high * 2 > bytes.size())
      return fail(Errc::unsupported,
                  "binary, or in an unsupported encoding: {} of its {} bytes are above ASCII", census.high,
                  bytes.size());
    from_windows_1252(bytes, into);
    into.warning = "it is not UTF-8 and was read as Windows-1252";
  }
  into.text = into.made;
  return {};
}

std::string with_replacements(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = next_invalid(bytes, at);
    text += bytes.substr(at, end - at);
    if (end < bytes.size()) text += replacement;
    at = end + 1;
  }
  return text;
}

std::vector<Origin> compose(std::vector<Origin> outer, const std::vector<Origin>& inner) {
  if (inner.empty()) return outer;
  if (outer.empty()) return inner;
  std::vector<Origin> both;
  for (const Origin& origin : outer) {
    auto piece = std::partition_point(
        inner.begin(), inner.end(), [&](const Origin& one) { return one.text + one.bytes <= origin.source; });
    const std::uint64_t end = origin.source + origin.bytes;
    for (; piece != inner.end() && piece->text < end; ++piece) {
      const std::uint64_t from = std::max(origin.source, piece->text);
      const std::uint64_t to = std::min(end, piece->text + piece->bytes);
      both.push_back({.text = origin.text + (from - origin.source),
                      .source = piece->source + (from - piece->text),
                      .bytes = to - from});
    }
  }
  return both;
}

}  // namespace plimsoll::ingest
