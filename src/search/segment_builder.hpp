// Builds segments from chunks. Memory is bounded: large parts are finished early and merged at
// the end.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/documents/chunk_words.hpp"
#include "search/segment.hpp"
#include "search/term_table.hpp"

namespace plimsoll::search {

struct SegmentPart {
  std::shared_ptr<const Segment> segment;
  std::shared_ptr<const Bits> dead;  // null: none
};

// Merges the live chunks of the parts into one segment. Chunk ids ascend from part to part.
Segment merge(std::span<const SegmentPart> parts, IndexId index, Revision revision, ChunkId highest);

class SegmentBuilder {
 public:
  // `most_postings`: postings in memory before a segment is built; 16 bytes each.
  explicit SegmentBuilder(std::size_t most_postings = 4'000'000) : most_postings_(most_postings) {}

  // Call in the order of ids. `texts` of one chunk: heading path, lead, text. `names`: terms of their own
  // kind (search/name_terms.hpp), not counted in the chunk's length.
  void add(ChunkId chunk, DocumentId document, std::span<const std::string_view> texts,
           std::span<const std::string> names = {});
  std::size_t size() const { return chunks_added_; }

  Segment finish(IndexId index, Revision revision, ChunkId highest);

 private:
  struct Posting {
    std::uint32_t term = 0;
    std::uint32_t count = 0;
  };
  std::uint32_t term_of(std::string_view folded);
  std::uint32_t term_of(std::string_view written, std::string_view folded, base::TextLanguage language);
  std::uint32_t number_of(std::string_view term);
  void add_posting(std::uint32_t term, std::uint64_t first);
  Segment make_segment(IndexId index, Revision revision, ChunkId highest);

  std::size_t most_postings_;
  std::size_t chunks_added_ = 0;
  std::vector<SegmentPart> done_;

  base::ChunkLanguage language_;
  TermTable folded_,
      stems_;  // words of other languages are in `folded_` as written, after a byte for the language
  std::vector<std::uint32_t> stem_of_folded_;  // no_term for stop words

  std::vector<ChunkId> chunks_;
  std::vector<DocumentId> documents_;
  std::vector<Length> lengths_;
  std::vector<std::uint64_t> ends_;        // of each chunk's postings
  std::vector<Posting> postings_;          // by chunk
  std::vector<std::uint64_t> posting_of_;  // by term: its latest posting, from 1
  std::vector<std::uint32_t> uses_;        // by term: postings
};

}  // namespace plimsoll::search
