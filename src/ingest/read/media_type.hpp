// Detects the type of a file from its first bytes, else from its name.
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

// Uses only the bytes: detects PDF and ZIP; unsupported: a known type without text.
Result<MediaType> packed_type(std::string_view bytes);

// Returns "PDF", ".docx" (any zip archive) or "" from the first bytes: the documents whose text is not in the
// bytes.
std::string_view packed_kind(std::string_view bytes);

// For a text: uses its start, then the extension of its name.
MediaType text_type(std::string_view text, std::string_view name);

}  // namespace plimsoll::ingest
