// Divides a document into chunks and sentences, each with its exact tokens.
//
// Guarantees, for every document:
//   - the chunks tile the text: the first starts at 0, each ends where the next starts, the last ends at its
//   end
//     (a text of white space only has none);
//   - the sentences of a chunk ascend, do not overlap, lie inside it, and cover all of it but white space;
//   - a sentence has at most `sentence_tokens` tokens, a chunk at most `chunk_tokens` (white space at its
//   ends and a
//     sentence of one character aside);
//   - a chunk crosses the border of a section only where what it has of the first is tiny;
//   - a sentence is on one page.
// Linear in the text. Safe on any thread.
#pragma once

#include "ingest/read/read.hpp"
#include "plimsoll/count.hpp"
#include "plimsoll/document.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::ingest {

struct CutOptions {
  Tokens chunk_tokens = 200;
  Tokens sentence_tokens = 90;
  Tokens tiny_section_tokens = 30;    // a smaller section is joined to the next
  std::size_t least_characters = 12;  // a shorter sentence is joined to a neighbour
};

// Fills a Document except its key, hash, size and metadata. bad_input: the limits are too small.
Result<Document> cut(ReadDocument read, const Tokenizer& tokenizer, const CutOptions& options);

}  // namespace plimsoll::ingest
