// What kind of file it is: by its first bytes, and where they leave it open by its name.
#pragma once

#include <string>
#include <string_view>

#include "plimsoll/result.hpp"

namespace plimsoll::ingest {

enum class Format : std::uint8_t { text, lines, markdown, html, pdf, code, csv, json, json_lines, docx };

enum class Language : std::uint8_t { none, c, cpp, python, javascript, typescript, tsx, go, rust, java };

struct MediaType {
  Format format = Format::text;
  Language language = Language::none;
  std::string_view name = "text/plain";
  char separator = ',';  // of CSV
};

// By the bytes alone: PDF and ZIP are told; unsupported where they are of a known kind that holds no text.
Result<MediaType> packed_type(std::string_view bytes);

// Of a text: what it looks like, then what its name ends in.
MediaType text_type(std::string_view text, std::string_view name);

}  // namespace plimsoll::ingest
