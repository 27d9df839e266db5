// An immutable part of the inverted index: one run of bytes, the same in memory and in a file.
//
//   header | chunk ids | document ids | lengths | terms | blocks | letters | postings | slack
//
// Chunks have places 0, 1, ... in the order of their ids. A term's postings are in blocks of 128: the gaps
// between places and the counts, each with as many bits as the largest of the block needs. A block stores its
// last place and the highest weight of its postings, so that a search can skip it. Numbers
// are little-endian.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "plimsoll/store.hpp"
#include "search/bitpack.hpp"
#include "search/bits.hpp"

namespace plimsoll::search {

using Place = std::uint32_t;

inline constexpr std::array<char, 8> segment_magic{'P', 'L', 'I', 'M', 'L', 'E', 'X', '\n'};
inline constexpr std::uint32_t segment_schema = 4;  // 4: languages

struct SegmentHeader {
  std::array<char, 8> magic{};
  std::uint32_t schema = 0;
  std::uint32_t chunks = 0;
  std::uint64_t bytes = 0;     // in total
  std::uint64_t checksum = 0;  // of everything, with 0 here
  std::int64_t index = 0;
  std::int64_t revision = 0;
  std::int64_t highest = 0;                 // chunk id ever seen, deleted or not
  std::uint64_t words = 0;                  // of all chunks
  std::uint64_t letters = 0, postings = 0;  // bytes
  std::uint32_t terms = 0, blocks = 0;
  double average = 0;  // words per chunk, used for the blocks' weights
};

struct TermEntry {
  std::uint64_t postings = 0;  // first byte
  std::uint32_t letters = 0;   // first byte
  std::uint32_t block = 0;     // first one
  std::uint32_t chunks = 0;    // with the term
  std::uint32_t unused = 0;
};

struct BlockEntry {
  Place last = 0;
  std::uint32_t postings = 0;  // first byte, relative to the term's
  std::uint16_t weight = 0;    // 65,535ths, rounded up
  std::uint8_t gap_bits = 0, count_bits = 0;
};

// The start of each part of a segment.
struct SegmentLayout {
  std::uint64_t chunks = 0, documents = 0, lengths = 0, entries = 0, blocks = 0, letters = 0, postings = 0,
                end = 0;
};
SegmentLayout layout_of(const SegmentHeader& header);

// Returns the checksum for the header.
std::uint64_t checksum_of(std::span<const std::byte> segment);

// A chunk's length in words, capped.
using Length = std::uint16_t;

struct DecodedBlock {
  std::array<Place, block_postings> places;
  std::array<std::uint32_t, block_postings> counts;  // occurrences of the term, minus one
  std::size_t size = 0;
};

struct Term {
  std::span<const BlockEntry> blocks;
  const std::uint8_t* postings = nullptr;
  std::uint32_t chunks = 0;
  std::uint32_t number = 0;  // in the segment

  std::size_t size_of(std::size_t block) const {
    return block + 1 < blocks.size() ? block_postings : chunks - block * block_postings;
  }
  void decode(std::size_t block, DecodedBlock& out) const;
  void decode_places(std::size_t block, DecodedBlock& out) const;
  void decode_counts(std::size_t block, DecodedBlock& out) const;
};

class Segment {
 public:
  // `bytes` must be aligned to 8 and live as long as `owner`. damaged: inconsistent data; a segment that
  // passes can be searched without further checks.
  static Result<Segment> open(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  const SegmentHeader& header() const { return header_; }
  std::size_t size() const { return header_.chunks; }
  std::span<const ChunkId> chunks() const { return chunks_; }
  std::span<const DocumentId> documents() const { return documents_; }
  std::span<const Length> lengths() const { return lengths_; }
  std::size_t terms() const { return header_.terms; }
  bool documents_ascend() const { return documents_ascend_; }

  std::string_view letters(std::size_t term) const;
  Term term(std::size_t number) const;
  std::optional<Term> find(std::string_view letters) const;

  // Returns the places of these documents. `documents`: ascending.
  Bits places_of(const std::vector<DocumentId>& documents) const;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  Segment() = default;
  Result<void> divide();
  Result<void> check() const;
  Result<void> check_term(std::size_t number, DecodedBlock& block) const;

  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
  SegmentHeader header_;
  std::span<const ChunkId> chunks_;
  std::span<const DocumentId> documents_;
  std::span<const Length> lengths_;
  std::span<const TermEntry> entries_;  // number of terms plus one
  std::span<const BlockEntry> blocks_;
  std::string_view letters_;
  std::span<const std::uint8_t> postings_;
  bool documents_ascend_ = false;
};

}  // namespace plimsoll::search
