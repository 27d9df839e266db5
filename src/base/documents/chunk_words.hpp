// What every index knows of a chunk: its language, its words and its names. One place, so that an index in
// memory and one on a server find the same chunks.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/language.hpp"
#include "plimsoll/index.hpp"

namespace plimsoll::base {

struct ChunkName {
  NameUse use = NameUse::mention;
  std::string key;
};

// Replaces the contents of `out`; a name that occurs twice is there twice.
void read_chunk_names(const StoredChunk& chunk, std::vector<ChunkName>& out);

// The texts whose words are searched; the last one is the chunk's own.
inline std::array<std::string_view, 3> searched_texts(const StoredChunk& chunk) {
  return {chunk.path, chunk.chunk.lead, chunk.text};
}

// The language of each chunk, for chunks in their order. One that is too short to tell has that of the chunk
// before it in the document.
class ChunkLanguage {
 public:
  TextLanguage next(DocumentId document, std::string_view text) {
    if (document != document_) language_ = TextLanguage::english;
    document_ = document;
    language_ = language_of(text).value_or(language_);
    return language_;
  }

 private:
  DocumentId document_ = 0;  // of the last chunk
  TextLanguage language_ = TextLanguage::english;
};

}  // namespace plimsoll::base
