// Reads the bytes of a file as text with its structure.
//
//   auto read = ingest::read_document(bytes, "guide.md", {});
//   auto document = ingest::cut(*std::move(read), tokenizer, {});
//
// The type is detected from the content, then from the name. A file that cannot be read gives an error with
// the reason; a partly readable file is read, with `warnings` for the rest.
// Time and memory are bounded by the limits for any input. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/document.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::ingest {

struct ReadOptions {
  std::uint64_t max_document_bytes = std::uint64_t{64} << 20;  // of the file and of its extracted text
  // Treat drawings, base64, minified and generated code as unsupported.
  bool skip_derived = false;
  // Markup and code that take longer to parse are read as lines of text.
  std::chrono::milliseconds parse_time{10'000};

  std::string pdftotext = "pdftotext";  // a name in PATH, or a path
  std::chrono::milliseconds pdf_time{60'000};
  std::uint64_t pdf_memory_bytes = std::uint64_t{1} << 30;
  std::uint32_t pdf_pages = 10'000;  // further pages are left out, with a warning
};

enum class BlockKind : std::uint8_t { paragraph, heading, list_item, table_row, code };

// A range of text that belongs together.
struct Block {
  Span span;               // ascending, not overlapping, not only white space
  std::uint32_t lead = 0;  // index into ReadDocument::leads; 0: none
  std::uint32_t page = 0;  // from 1; 0: the format has no pages
  BlockKind kind = BlockKind::paragraph;
  bool wrapped = false;  // line ends inside count as blanks
};

struct ReadDocument {
  std::string media_type;  // "text/markdown"
  std::string title;       // title in the document, or empty
  std::string text;        // well-formed UTF-8
  // As in Document.
  std::vector<Origin> origins;
  bool addressable = true;
  std::vector<DocumentSection> sections;  // at least one; by start, the outer one first
  std::vector<Block> blocks;
  std::vector<std::string> leads;     // [0] is empty
  std::vector<std::string> warnings;  // one sentence each
};

// bad_input: too large or damaged; unsupported: binary or another unsupported type; timed_out; io_failed: the
// program for PDFs cannot be run.
Result<ReadDocument> read_document(std::string_view bytes, std::string_view name, const ReadOptions& options);

// Returns the error of read_document for a file of this size, to check before reading it.
Result<void> check_size(std::uint64_t bytes, const ReadOptions& options);

}  // namespace plimsoll::ingest
