#include "base/json/scrub_trace.hpp"

#include <fmt/format.h>

#include "base/json/json_text.hpp"

namespace plimsoll::base {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  base::append_json_string(out, text);
  return out.substr(1, out.size() - 2);
}

// As long as what it stands for, and JSON at any depth.
std::string filler(std::size_t size) {
  std::string out("[forgotten]");
  if (size < out.size()) out.clear();
  out.resize(size, '.');
  return out;
}

// Whether the letter there belongs to an escape that began before it.
bool is_within_escape(std::string_view json, std::size_t at) {
  std::size_t strokes = 0;
  while (strokes < at && json[at - 1 - strokes] == '\\') ++strokes;
  return strokes % 2 == 1;
}

bool blank(std::string& json, std::string_view needle, std::size_t skip, std::size_t size) {
  bool found = false;
  for (std::size_t at = 0; (at = json.find(needle, at)) != std::string::npos;) {
    if (is_within_escape(json, at)) {
      ++at;
      continue;
    }
    json.replace(at + skip, size, filler(size));
    at += needle.size();
    found = true;
  }
  return found;
}

// Whether the plan in it says that the fact went into the prompt. Plans also name those that did not.
bool went_along(std::string_view json, std::string_view id) {
  const std::string piece = fmt::format("\"id\":\"{}\",", id);
  for (std::size_t at = 0; (at = json.find(piece, at)) != std::string_view::npos; at += piece.size())
    if (json.substr(at, json.find('}', at) - at).find("\"fate\":\"kept\"") != std::string_view::npos)
      return true;
  return false;
}

// The prompt stands last in a trace, as a text. What a template's own words were defused in is not found by
// its words: such a prompt goes as a whole.
bool blank_prompt(std::string& json) {
  constexpr std::string_view opens = ",\"prompt\":\"", closes = "\"}";
  const std::size_t at = json.rfind(opens);
  if (at == std::string::npos || !json.ends_with(closes)) return false;
  const std::size_t begin = at + opens.size(), size = json.size() - closes.size() - begin;
  json.replace(begin, size, filler(size));
  return true;
}

}  // namespace

bool scrub_trace(std::string& json, std::string_view id, std::string_view text) {
  constexpr std::size_t telling = 8;  // what is shorter stands in many a text by chance
  const std::string once = escaped(text), twice = escaped(once);
  bool found = false;
  if (text.size() >= telling) {
    found = blank(json, twice, 0, twice.size());
    if (once != twice) found = blank(json, once, 0, once.size()) || found;
  } else {
    const std::string line = "- " + twice + R"(\\n)";
    found = blank(json, line, 2, twice.size());
  }
  if (!found && went_along(json, id)) found = blank_prompt(json);
  return found;
}

}  // namespace plimsoll::base
