// One function per format. The text given is well-formed UTF-8, except for those that unpack bytes. Origins
// are of the text given.
#pragma once

#include <string_view>

#include "ingest/read/media_type.hpp"
#include "ingest/read/read.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::ingest {

ReadDocument read_text(std::string_view text, std::string_view media_type);
// Code and settings without a grammar: stretches between blank lines.
ReadDocument read_lines(std::string_view text, std::string_view media_type);
ReadDocument read_markdown(std::string_view text, const ReadOptions& options);
Result<ReadDocument> read_html(std::string_view text, const ReadOptions& options);
ReadDocument read_code(std::string_view text, const MediaType& type, const ReadOptions& options);
ReadDocument read_csv(std::string_view text, const MediaType& type);
ReadDocument read_json(std::string_view text, const MediaType& type);
Result<ReadDocument> read_docx(std::string_view bytes, const ReadOptions& options);
Result<ReadDocument> read_pdf(std::string_view bytes, const ReadOptions& options);
// The pages that pdftotext wrote, a form feed behind each; in reading order, and with their columns, from
// which the rows of tables are taken.
ReadDocument read_pages(std::string_view pages, std::string_view layout = {});

}  // namespace plimsoll::ingest
