// A document as it was read and cut: a text, and a tree over it.
//
//   document -> sections (headings) -> chunks (about 200 tokens) -> sentences
//
// Chunks tile the text: chunk i ends where chunk i + 1 starts, so that the text of a document is the
// text of its chunks in a row, and nothing of it is kept twice. The indexes find chunks; the selector
// takes sentences out of them, as many as the budget allows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/tokens.hpp"

namespace plimsoll {

// Bytes [start, end).
struct Span {
  std::uint64_t start = 0;
  std::uint64_t end = 0;

  std::uint64_t size() const { return end - start; }
  bool operator==(const Span&) const = default;
};

// Where a stretch of the text stands in the file that it was read from.
struct Origin {
  std::uint64_t text = 0;    // first byte in the text
  std::uint64_t source = 0;  // first byte in the file
  std::uint64_t bytes = 0;   // how long the two are the same
  bool operator==(const Origin&) const = default;
};

// Heading and what stands below it up to the next of its level or above. Section 0 is the document itself.
struct DocumentSection {
  std::string title;         // as shown: without the marks of the format; "" for section 0
  std::uint32_t parent = 0;  // index of a section before this one
  Span span;                 // of the text, heading included
};

// The least that is ever taken: a sentence, a line of code, a row of a table.
struct Sentence {
  Span span;                 // of the text, without the white space around it; ascending, never overlapping
  Tokens tokens = 0;         // of these bytes alone
  bool opens_block = false;  // first of a paragraph, list item, table row or definition
};

struct Chunk {
  Span span;  // of the text
  Tokens tokens = 0;
  std::uint32_t section = 0;  // the innermost one that holds all its sentences
  std::uint32_t page = 0;     // from 1; 0 where the format has no pages
  std::string lead;           // what its pieces need to be understood: a table's header row, the signature of
                              // the definition around it; or empty
  std::vector<Sentence> sentences;
};

using Metadata = std::map<std::string, std::string, std::less<>>;  // values are JSON: "\"a\"", "1", "true"

// The file that a document was read from. It tells two documents apart whose keys would be the same.
struct FileSource {
  // Absolute; links in it are resolved up to the folder that was added. Empty: the document came by other
  // ways, such as an upload. Nothing: not known, the document was stored by a version that did not keep it.
  std::optional<std::string> path = "";
  std::string root;  // the file or folder that was added, absolute
  bool operator==(const FileSource&) const = default;
};

struct Document {
  std::string key;          // what the user calls it: a path, an id; unique in its index
  std::string media_type;   // "text/markdown"
  std::string source_hash;  // SHA-256 of the bytes it was read from, hexadecimal
  std::uint64_t source_bytes = 0;
  FileSource file;
  std::string text;  // well-formed UTF-8
  // Empty: the text is the file, byte for byte. `addressable` false: the format packs or draws its text (PDF,
  // .docx), and spans are of the text that was read.
  std::vector<Origin> origins;  // ascending by `text`
  bool addressable = true;
  std::vector<DocumentSection> sections;  // at least one
  std::vector<Chunk> chunks;
  Metadata metadata;
};

// The same span in the file; where its ends fall between two origins, the nearest bytes inside it.
Span source_span(const std::vector<Origin>& origins, Span of_text);
inline Span source_span(const Document& document, Span of_text) {
  return source_span(document.origins, of_text);
}

// "Guide > Install > Linux".
std::string heading_path(const std::vector<DocumentSection>& sections, std::uint32_t section);

}  // namespace plimsoll
