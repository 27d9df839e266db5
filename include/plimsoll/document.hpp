// A document after reading and chunking: a text, and a tree over it.
//
//   document -> sections (headings) -> chunks (about 200 tokens) -> sentences
//
// Chunks tile the text: chunk i ends where chunk i + 1 starts, so that the text of a document is the
// text of its chunks in a row, and nothing is stored twice. Indexes find chunks; the selector
// takes as many of their sentences as the budget allows.
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

// Maps a range of the text to the file that it was read from.
struct Origin {
  std::uint64_t text = 0;    // first byte in the text
  std::uint64_t source = 0;  // first byte in the file
  std::uint64_t bytes = 0;   // length of the identical range
  bool operator==(const Origin&) const = default;
};

// A heading and the text below it, up to the next heading of its level or above. Section 0 is the document.
struct DocumentSection {
  std::string title;         // without markup; "" for section 0
  std::uint32_t parent = 0;  // index of a section before this one
  Span span;                 // of the text, heading included
};

// The smallest unit of selection: a sentence, a line of code, a table row.
struct Sentence {
  Span span;                   // of the text, without the white space around it; ascending, never overlapping
  Tokens tokens = 0;           // of this span alone
  bool opens_block = false;    // first of a paragraph, list item, table row or definition
  std::uint32_t pages_on = 0;  // pages after the one on which its chunk begins
};

struct Chunk {
  Span span;  // of the text
  Tokens tokens = 0;
  std::uint32_t section = 0;  // the innermost one with all its sentences
  std::uint32_t page = 0;     // of its first sentence, from 1; 0: the format has no pages
  std::string lead;           // context that its sentences need: a table's header row, the signature of
                              // the enclosing definition; or empty
  std::vector<Sentence> sentences;
};

using Metadata = std::map<std::string, std::string, std::less<>>;  // values are JSON: "\"a\"", "1", "true"

// The file that a document was read from. Distinguishes documents whose keys would be equal.
struct FileSource {
  // Absolute; links are resolved up to the folder that was added. Empty: the document did not come from a
  // file, for example an upload. None: not known, as an older version did not store it.
  std::optional<std::string> path = "";
  std::string root;  // the file or folder that was added, absolute
  bool operator==(const FileSource&) const = default;
};

struct Document {
  std::string key;          // the user's name for it: a path or an id; unique in its index
  std::string media_type;   // "text/markdown"
  std::string source_hash;  // SHA-256 of the source bytes, hexadecimal
  std::uint64_t source_bytes = 0;
  FileSource file;
  std::string text;  // well-formed UTF-8
  // Empty: the text is the file, byte for byte. `addressable` false: the text is not in the file as such
  // (PDF, .docx), and spans refer to the extracted text.
  std::vector<Origin> origins;  // ascending by `text`
  bool addressable = true;
  std::vector<DocumentSection> sections;  // at least one
  std::vector<Chunk> chunks;
  Metadata metadata;
};

// Maps a span of the text to the file; an end between two origins moves to the nearest byte inside.
Span source_span(const std::vector<Origin>& origins, Span of_text);
inline Span source_span(const Document& document, Span of_text) {
  return source_span(document.origins, of_text);
}

// Returns the page of the sentence at a position in the chunk; 0: the format has no pages.
std::uint32_t page_at(const Chunk& chunk, std::uint64_t place);

// Returns the innermost section at a position of the text; 0 without sections.
std::uint32_t section_at(const std::vector<DocumentSection>& sections, std::uint64_t place);
// Returns the innermost section that contains both.
std::uint32_t common_section(const std::vector<DocumentSection>& sections, std::uint32_t a, std::uint32_t b);

// "Guide > Install > Linux".
std::string heading_path(const std::vector<DocumentSection>& sections, std::uint32_t section);

}  // namespace plimsoll
