#include "gateway/http/request_head.hpp"

#include <algorithm>

#include "base/text/text.hpp"
#include "base/try.hpp"

namespace plimsoll::gateway {
namespace {

constexpr std::string_view line_break = "\r\n";

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_token(std::string_view text) {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return is_letter_or_digit(c) || others.find(c) != std::string_view::npos;
  });
}

// A name, an address or nothing, with or without a port.
bool is_host(std::string_view text) {
  constexpr std::string_view others = "-._~!$&'()*+;=:%[]";
  return std::ranges::all_of(
      text, [&](char c) { return is_letter_or_digit(c) || others.find(c) != std::string_view::npos; });
}

// At most 19 digits; larger bodies are refused anyway.
bool is_length(std::string_view text) {
  constexpr std::size_t most_digits = 19;
  return !text.empty() && text.size() <= most_digits &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Removes surrounding spaces and tabs.
std::string_view value_in(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

struct Framing {
  int hosts = 0, lengths = 0, codings = 0;
};

Result<void> check_field(std::string_view line, Framing& seen) {
  if (line.front() == ' ' || line.front() == '\t')
    return fail(Errc::bad_input, "a header is folded over two lines; send each header on one line");
  const std::size_t colon = line.find(':');
  const std::string_view given = line.substr(0, colon);
  if (colon == std::string_view::npos || !is_token(given))
    return fail(Errc::bad_input, "a header has no valid name before its colon");
  const std::string name = base::to_lower_ascii(given);
  const std::string_view value = value_in(line.substr(colon + 1));
  if (name == "host") {
    ++seen.hosts;
    if (!is_host(value)) return fail(Errc::bad_input, "the Host header is not a host name");
  } else if (name == "content-length") {
    ++seen.lengths;
    if (!is_length(value))
      return fail(Errc::bad_input, "Content-Length is not a whole number of at most 19 digits");
  } else if (name == "transfer-encoding") {
    ++seen.codings;
    if (base::to_lower_ascii(value) != "chunked")
      return fail(Errc::bad_input, "unsupported Transfer-Encoding: send Content-Length, or only chunked");
  }
  return {};
}

Result<void> check_framing(const Framing& seen, bool old_http) {
  if (seen.hosts > 1) return fail(Errc::bad_input, "the request has {} Host headers; send one", seen.hosts);
  if (seen.hosts == 0 && !old_http)
    return fail(Errc::bad_input, "the request has no Host header, which HTTP/1.1 requires");
  if (seen.codings > 0 && old_http)
    return fail(Errc::bad_input, "HTTP/1.0 has no Transfer-Encoding; send Content-Length, or use HTTP/1.1");
  if (seen.lengths + seen.codings > 1)
    return fail(Errc::bad_input,
                "the request gives its body length {} times; send Content-Length or Transfer-Encoding once",
                seen.lengths + seen.codings);
  return {};
}

}  // namespace

Result<std::size_t> head_length(std::string_view arrived, std::size_t& scanned) {
  for (; scanned < arrived.size(); ++scanned) {
    const char c = arrived[scanned];
    const bool is_last = scanned + 1 == arrived.size();
    if (c == '\r') {
      if (is_last) return 0;
      if (arrived[scanned + 1] != '\n')
        return fail(Errc::bad_input, "the head has a carriage return without a line feed");
      ++scanned;
      if (arrived.substr(0, scanned + 1).ends_with("\r\n\r\n")) return scanned + 1;
    } else if (c == '\n') {
      return fail(Errc::bad_input, "the head has a line feed without a carriage return");
    } else if ((static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f') {
      return fail(Errc::bad_input, "the head has the control character {}", static_cast<int>(c));
    }
  }
  return 0;
}

Result<void> check_head(std::string_view head) {
  const std::size_t first = head.find(line_break);
  const bool old_http = head.substr(0, first).ends_with("HTTP/1.0");
  Framing seen;
  for (std::size_t at = first + line_break.size(); at < head.size();) {
    const std::size_t end = head.find(line_break, at);
    if (end == at) break;
    TRY_VOID(check_field(head.substr(at, end - at), seen));
    at = end + line_break.size();
  }
  return check_framing(seen, old_http);
}

}  // namespace plimsoll::gateway
