// One function per format. The given text is well-formed UTF-8, except for packed formats. Origins refer to
// the given text.
#pragma once

#include <string_view>

#include "ingest/read/media_type.hpp"
#include "ingest/read/read.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::ingest {

ReadDocument read_text(std::string_view text, std::string_view media_type);
// Code and configuration without a grammar, divided at blank lines.
ReadDocument read_lines(std::string_view text, std::string_view media_type);
ReadDocument read_markdown(std::string_view text, const ReadOptions& options);
Result<ReadDocument> read_html(std::string_view text, const ReadOptions& options);
ReadDocument read_code(std::string_view text, const MediaType& type, const ReadOptions& options);
ReadDocument read_csv(std::string_view text, const MediaType& type);
ReadDocument read_json(std::string_view text, const MediaType& type);
Result<ReadDocument> read_docx(std::string_view bytes, const ReadOptions& options);
Result<ReadDocument> read_pdf(std::string_view bytes, const ReadOptions& options);
// Reads the pages from pdftotext, each with a form feed at its end; in reading order, and with columns for
// table rows.
ReadDocument read_pages(std::string_view pages, std::string_view layout = {});

}  // namespace plimsoll::ingest
