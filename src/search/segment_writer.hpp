// Writes a segment: first its chunks, then term by term in ascending order, posting by posting.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "search/segment.hpp"

namespace plimsoll::search {

class SegmentWriter {
 public:
  void add_chunk(ChunkId chunk, DocumentId document, Length length);
  // Call after the last chunk. A term without postings is not written.
  void begin_term(std::string_view letters) { letters_ = letters; }
  void add_posting(Place place, std::uint32_t count);
  void end_term();

  // Returns the segment in its own memory. `highest` is at least the last chunk's id.
  Segment finish(IndexId index, Revision revision, ChunkId highest);

 private:
  void end_block();

  std::vector<ChunkId> chunks_;
  std::vector<DocumentId> documents_;
  std::vector<Length> lengths_;
  std::vector<TermEntry> entries_;
  std::vector<BlockEntry> blocks_;
  std::string all_letters_;
  std::vector<std::uint8_t> postings_;

  std::string_view letters_;  // of the current term
  std::uint64_t words_ = 0;
  double average_ = 0;
  std::uint32_t term_chunks_ = 0;
  std::size_t term_start_ = 0, term_block_ = 0;
  std::array<std::uint32_t, block_postings> gaps_{}, counts_{};
  std::size_t waiting_ = 0;
  Place next_ = 0;  // the lowest possible next place
  float heaviest_ = 0;
};

}  // namespace plimsoll::search
