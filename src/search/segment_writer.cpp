#include "search/segment_writer.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "search/bm25.hpp"

namespace plimsoll::search {

void SegmentWriter::add_chunk(ChunkId chunk, DocumentId document, Length length) {
  assert(chunks_.empty() || chunks_.back() < chunk);
  chunks_.push_back(chunk);
  documents_.push_back(document);
  lengths_.push_back(length);
  words_ += length;
  average_ = std::max(1.0, static_cast<double>(words_) / static_cast<double>(chunks_.size()));
}

void SegmentWriter::add_posting(Place place, std::uint32_t count) {
  assert(place >= next_ && place < chunks_.size() && count > 0);
  gaps_[waiting_] = place - next_;
  counts_[waiting_] = count - 1;
  next_ = place + 1;
  const float norm = LengthNorm::of(average_).at(lengths_[place]);
  heaviest_ = std::max(heaviest_, share_of(static_cast<float>(count), norm));
  ++term_chunks_;
  if (++waiting_ == block_postings) end_block();
}

void SegmentWriter::end_block() {
  const std::span gaps(gaps_.data(), waiting_);
  const std::span counts(counts_.data(), waiting_);
  BlockEntry block;
  block.last = next_ - 1;
  block.postings = static_cast<std::uint32_t>(postings_.size() - term_start_);
  block.gap_bits = static_cast<std::uint8_t>(bits_for(*std::max_element(gaps.begin(), gaps.end())));
  block.count_bits = static_cast<std::uint8_t>(bits_for(*std::max_element(counts.begin(), counts.end())));
  block.weight = static_cast<std::uint16_t>(std::min(65'535.0F, std::ceil(heaviest_ * 65'535.0F)));
  blocks_.push_back(block);
  pack(gaps, block.gap_bits, postings_);
  pack(counts, block.count_bits, postings_);
  waiting_ = 0;
  heaviest_ = 0;
}

void SegmentWriter::end_term() {
  if (waiting_ > 0) end_block();
  if (term_chunks_ > 0) {
    TermEntry entry;
    entry.postings = term_start_;
    entry.letters = static_cast<std::uint32_t>(all_letters_.size());
    entry.block = static_cast<std::uint32_t>(term_block_);
    entry.chunks = term_chunks_;
    entries_.push_back(entry);
    all_letters_ += letters_;
  }
  term_start_ = postings_.size();
  term_block_ = blocks_.size();
  term_chunks_ = 0;
  next_ = 0;
}

Segment SegmentWriter::finish(IndexId index, Revision revision, ChunkId highest) {
  SegmentHeader header;
  header.magic = segment_magic;
  header.schema = segment_schema;
  header.chunks = static_cast<std::uint32_t>(chunks_.size());
  header.index = index;
  header.revision = revision;
  header.highest = highest;
  header.words = words_;
  header.letters = all_letters_.size();
  header.postings = postings_.size();
  header.terms = static_cast<std::uint32_t>(entries_.size());
  header.blocks = static_cast<std::uint32_t>(blocks_.size());
  header.average = std::max(average_, 1.0);
  const SegmentLayout layout = layout_of(header);
  header.bytes = layout.end;
  TermEntry end;
  end.postings = header.postings;
  end.letters = static_cast<std::uint32_t>(header.letters);
  end.block = header.blocks;
  entries_.push_back(end);

  const auto words = std::make_shared<std::vector<std::uint64_t>>(layout.end / 8);
  const std::span bytes = std::as_writable_bytes(std::span(*words));
  const auto put = [&](std::uint64_t at, const void* from, std::size_t size) {
    if (size > 0) std::memcpy(bytes.data() + at, from, size);
  };
  put(0, &header, sizeof(header));
  put(layout.chunks, chunks_.data(), chunks_.size() * sizeof(ChunkId));
  put(layout.documents, documents_.data(), documents_.size() * sizeof(DocumentId));
  put(layout.lengths, lengths_.data(), lengths_.size() * sizeof(Length));
  put(layout.entries, entries_.data(), entries_.size() * sizeof(TermEntry));
  put(layout.blocks, blocks_.data(), blocks_.size() * sizeof(BlockEntry));
  put(layout.letters, all_letters_.data(), all_letters_.size());
  put(layout.postings, postings_.data(), postings_.size());
  header.checksum = checksum_of(bytes);
  put(0, &header, sizeof(header));
  auto segment = Segment::open(bytes, words);
  assert(segment);  // our own output must be valid
  return *std::move(segment);
}

}  // namespace plimsoll::search
