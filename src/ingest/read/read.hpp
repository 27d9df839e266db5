// Reads the bytes of a file into a text, and says what that text is made of.
//
//   auto read = ingest::read_document(bytes, "guide.md", {});
//   auto document = ingest::cut(*std::move(read), tokenizer, {});
//
// The kind is found by the content first and by the name second. A file that cannot be read ends in an error
// whose sentence says why; a file that can be read in part is read, and `warnings` says what was not.
// Whatever the bytes are, time and memory stay in proportion to the limits. Safe on any thread.
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
  std::uint64_t max_document_bytes = std::uint64_t{64} << 20;  // of the file, and of the text it unpacks to
  // Drawings, base64, minified and generated code are unsupported: text, but not written to be read.
  bool skip_derived = false;
  // Markup and code beyond this much computing are read as lines of text.
  std::chrono::milliseconds parse_time{10'000};

  std::string pdftotext = "pdftotext";  // a name to look for in PATH, or a path
  std::chrono::milliseconds pdf_time{60'000};
  std::uint64_t pdf_memory_bytes = std::uint64_t{1} << 30;
  std::uint32_t pdf_pages = 10'000;  // those behind are left out, with a warning
};

enum class BlockKind : std::uint8_t { paragraph, heading, list_item, table_row, code };

// A stretch of the text that belongs together.
struct Block {
  Span span;               // of the text; ascending, never overlapping, never white space alone
  std::uint32_t lead = 0;  // place in ReadDocument::leads; 0 has none
  std::uint32_t page = 0;  // from 1; 0 where the format has no pages
  BlockKind kind = BlockKind::paragraph;
  bool wrapped = false;  // line ends inside are blanks, not ends of anything
};

struct ReadDocument {
  std::string media_type;  // "text/markdown"
  std::string title;       // what the document calls itself, or empty
  std::string text;        // well-formed UTF-8
  // As in Document.
  std::vector<Origin> origins;
  bool addressable = true;
  std::vector<DocumentSection> sections;  // at least one; by start, the outer one first
  std::vector<Block> blocks;
  std::vector<std::string> leads;     // [0] is empty
  std::vector<std::string> warnings;  // a sentence each
};

// bad_input: too large, damaged; unsupported: of a kind that is not read, binary; timed_out; io_failed: the
// program that reads PDFs cannot be run.
Result<ReadDocument> read_document(std::string_view bytes, std::string_view name, const ReadOptions& options);

// The error that read_document would give for a file of this size: asked before the file is read.
Result<void> check_size(std::uint64_t bytes, const ReadOptions& options);

}  // namespace plimsoll::ingest
