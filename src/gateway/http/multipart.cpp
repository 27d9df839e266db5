#include "gateway/http/multipart.hpp"

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "gateway/http/target.hpp"

namespace plimsoll::gateway {
namespace {

constexpr std::string_view line_end = "\r\n";

bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && base::to_lower_ascii(a) == base::to_lower_ascii(b);
}

// Reads a quoted string from its opening quote; moves `at` past its end. A backslash escapes a quote or a
// backslash; before anything else it is literal, as in paths from old browsers.
std::string take_quoted(std::string_view text, std::size_t& at) {
  std::string out;
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    const bool escapes =
        text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == '"' || text[at + 1] == '\\');
    if (escapes) ++at;
    out += text[at];
  }
  if (at < text.size()) ++at;
  return out;
}

struct Header {
  std::string_view disposition, type;
};

Result<Header> read_header(std::string_view lines) {
  Header header;
  while (!lines.empty()) {
    const std::size_t end = lines.find(line_end);
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + line_end.size());
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos)
      return fail(Errc::bad_input, "a part of the form has a header line without a colon");
    const std::string_view name = line.substr(0, colon), value = base::trim(line.substr(colon + 1));
    if (same_word(name, "Content-Disposition")) header.disposition = value;
    if (same_word(name, "Content-Type")) header.type = value;
  }
  return header;
}

// filename*=UTF-8'en'na%C3%AFve.txt
Result<std::string> extended_value(std::string_view text) {
  const std::size_t charset = text.find('\'');
  const std::size_t language = charset == std::string_view::npos ? charset : text.find('\'', charset + 1);
  if (language == std::string_view::npos || !same_word(text.substr(0, charset), "UTF-8"))
    return fail(Errc::bad_input, "filename* of a part is not of the form UTF-8''NAME");
  return percent_decoded(text.substr(language + 1));
}

Result<FormPart> read_part(std::string_view part, const FormLimits& limits) {
  // The header ends with an empty line; without headers the part starts with it.
  const bool bare = part.starts_with(line_end);
  const std::size_t end = bare ? 0 : part.substr(0, limits.header_bytes + 4).find("\r\n\r\n");
  if (end == std::string_view::npos)
    return fail(Errc::bad_input, "a part of the form has no header end within {} bytes", limits.header_bytes);
  TRY(const Header header, read_header(part.substr(0, end)));
  FormPart out;
  const auto name = header_parameter(header.disposition, "name");
  if (!base::to_lower_ascii(header.disposition).starts_with("form-data") || !name)
    return fail(Errc::bad_input, "a part of the form has no `Content-Disposition: form-data; name=\"...\"`");
  out.name = *name;
  out.filename = header_parameter(header.disposition, "filename");
  if (const auto extended = header_parameter(header.disposition, "filename*")) {
    TRY(out.filename, extended_value(*extended));
  }
  out.content_type = header.type;
  out.body = part.substr(end + (bare ? 2 : 4));
  return out;
}

// A boundary between parts: at the start of a line, followed only by blanks.
struct Delimiter {
  std::size_t start = 0;  // of the preceding line end, which is part of it
  std::size_t end = 0;    // start of the next part
  bool last = false;
};

std::optional<Delimiter> next_delimiter(std::string_view body, std::string_view dashed, std::size_t from) {
  for (std::size_t at = body.find(dashed, from); at != std::string_view::npos;
       at = body.find(dashed, at + 1)) {
    const bool begins_line =
        at == 0 || (at >= from + 2 && body.substr(at - 2, 2) == line_end) || (at == from && from > 0);
    if (!begins_line) continue;
    Delimiter found{at >= from + 2 ? at - 2 : at, at + dashed.size(), false};
    if (body.substr(found.end, 2) == "--") {
      found.last = true;
      return found;
    }
    while (found.end < body.size() && (body[found.end] == ' ' || body[found.end] == '\t')) ++found.end;
    if (body.substr(found.end, 2) != line_end) continue;
    found.end += 2;
    return found;
  }
  return std::nullopt;
}

Result<std::string> boundary_of(std::string_view content_type) {
  constexpr std::size_t longest = 70;  // RFC 2046
  const auto boundary = header_parameter(content_type, "boundary");
  if (!is_multipart(content_type) || !boundary || boundary->empty())
    return fail(Errc::bad_input, "Content-Type is not `multipart/form-data; boundary=...`");
  if (boundary->size() > longest)
    return fail(Errc::bad_input, "the boundary of the form has {} characters; at most {} are allowed",
                boundary->size(), longest);
  return *boundary;
}

}  // namespace

bool is_multipart(std::string_view content_type) {
  return same_word(base::trim(content_type.substr(0, content_type.find(';'))), "multipart/form-data");
}

std::optional<std::string> header_parameter(std::string_view value, std::string_view name) {
  std::size_t at = value.find(';');
  while (at < value.size()) {
    at = value.find_first_not_of("; \t", at);
    if (at == std::string_view::npos) break;
    const std::size_t stop = value.find_first_of("=;", at);
    const std::string_view key = base::trim(value.substr(at, stop - at));
    at = stop;
    if (at == std::string_view::npos || value[at] == ';') continue;
    at = value.find_first_not_of(" \t", at + 1);
    if (at == std::string_view::npos) break;
    std::string text;
    if (value[at] == '"') {
      text = take_quoted(value, at);
      at = value.find(';', at);
    } else {
      const std::size_t end = value.find(';', at);
      text = base::trim(value.substr(at, end - at));
      at = end;
    }
    if (same_word(key, name)) return text;
  }
  return std::nullopt;
}

Result<std::vector<FormPart>> read_multipart(std::string_view content_type, std::string_view body,
                                             const FormLimits& limits) {
  TRY(const std::string boundary, boundary_of(content_type));
  const std::string dashed = "--" + boundary;
  std::vector<FormPart> parts;
  auto before = next_delimiter(body, dashed, 0);  // text before it is ignored
  if (!before) return fail(Errc::bad_input, "the form has no boundary");
  while (!before->last) {
    const auto after = next_delimiter(body, dashed, before->end);
    if (!after)
      return fail(Errc::bad_input, "the form has no end: the final boundary with two dashes is missing");
    if (parts.size() == limits.parts)
      return fail(Errc::bad_input, "the form has more than {} parts", limits.parts);
    TRY(FormPart part, read_part(body.substr(before->end, after->start - before->end), limits));
    parts.push_back(std::move(part));
    before = after;
  }
  return parts;
}

}  // namespace plimsoll::gateway
