#include "search/segment.hpp"

#include <algorithm>
#include <cstring>

#include "base/checksum.hpp"
#include "base/try.hpp"

namespace plimsoll::search {

namespace {

constexpr std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + 7) / 8 * 8;
}

template <typename T>
std::span<const T> part(std::span<const std::byte> bytes, std::uint64_t start, std::size_t count) {
  return {reinterpret_cast<const T*>(bytes.data() + start), count};
}

}  // namespace

SegmentLayout layout_of(const SegmentHeader& header) {
  SegmentLayout layout;
  layout.chunks = aligned(sizeof(SegmentHeader));
  layout.documents = layout.chunks + std::uint64_t{header.chunks} * sizeof(ChunkId);
  layout.lengths = layout.documents + std::uint64_t{header.chunks} * sizeof(DocumentId);
  layout.entries = aligned(layout.lengths + std::uint64_t{header.chunks} * sizeof(Length));
  layout.blocks = layout.entries + (std::uint64_t{header.terms} + 1) * sizeof(TermEntry);
  layout.letters = layout.blocks + std::uint64_t{header.blocks} * sizeof(BlockEntry);
  layout.postings = layout.letters + header.letters;
  layout.end = aligned(layout.postings + header.postings + unpack_slack);
  return layout;
}

std::uint64_t checksum_of(std::span<const std::byte> segment) {
  SegmentHeader header;
  std::memcpy(&header, segment.data(), sizeof(header));
  header.checksum = 0;
  base::Checksum sum;
  sum.update(std::as_bytes(std::span(&header, 1)));
  sum.update(segment.subspan(sizeof(header)));
  return sum.value();
}

void Term::decode_places(std::size_t block, DecodedBlock& out) const {
  const BlockEntry& entry = blocks[block];
  out.size = size_of(block);
  unpack(postings + entry.postings, out.size, entry.gap_bits, out.places.data());
  Place place = block == 0 ? 0 : blocks[block - 1].last + 1;  // gaps are stored minus one
  for (std::size_t i = 0; i < out.size; ++i) {
    place += out.places[i];
    out.places[i] = place++;
  }
}

void Term::decode_counts(std::size_t block, DecodedBlock& out) const {
  const BlockEntry& entry = blocks[block];
  unpack(postings + entry.postings + packed_bytes(out.size, entry.gap_bits), out.size, entry.count_bits,
         out.counts.data());
}

void Term::decode(std::size_t block, DecodedBlock& out) const {
  decode_places(block, out);
  decode_counts(block, out);
}

Result<Segment> Segment::open(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  Segment segment;
  segment.owner_ = std::move(owner);
  segment.bytes_ = bytes;
  TRY_VOID(segment.divide());
  TRY_VOID(segment.check());
  segment.documents_ascend_ = std::is_sorted(segment.documents_.begin(), segment.documents_.end());
  return segment;
}

Result<void> Segment::divide() {
  if (bytes_.size() < sizeof(SegmentHeader))
    return fail(Errc::damaged, "the inverted index has {} bytes, too few for a header", bytes_.size());
  std::memcpy(&header_, bytes_.data(), sizeof(header_));
  if (header_.magic != segment_magic) return fail(Errc::damaged, "not an inverted index");
  if (header_.schema != segment_schema)
    return fail(Errc::damaged, "the inverted index has version {}, not {}", header_.schema, segment_schema);
  const std::uint64_t size = bytes_.size();
  if (header_.bytes != size || header_.letters > size || header_.postings > size ||
      layout_of(header_).end != size)
    return fail(Errc::damaged, "the inverted index has {} bytes, but its header says {}", size,
                header_.bytes);
  if (checksum_of(bytes_) != header_.checksum)
    return fail(Errc::damaged, "the inverted index fails its checksum");

  const SegmentLayout layout = layout_of(header_);
  chunks_ = part<ChunkId>(bytes_, layout.chunks, header_.chunks);
  documents_ = part<DocumentId>(bytes_, layout.documents, header_.chunks);
  lengths_ = part<Length>(bytes_, layout.lengths, header_.chunks);
  entries_ = part<TermEntry>(bytes_, layout.entries, std::size_t{header_.terms} + 1);
  blocks_ = part<BlockEntry>(bytes_, layout.blocks, header_.blocks);
  const auto letters = part<char>(bytes_, layout.letters, header_.letters);
  letters_ = {letters.data(), letters.size()};
  postings_ = part<std::uint8_t>(bytes_, layout.postings, header_.postings);
  return {};
}

std::string_view Segment::letters(std::size_t term) const {
  const std::uint32_t start = entries_[term].letters;
  return letters_.substr(start, entries_[term + 1].letters - start);
}

Term Segment::term(std::size_t number) const {
  const TermEntry& entry = entries_[number];
  Term term;
  term.blocks = blocks_.subspan(entry.block, entries_[number + 1].block - entry.block);
  term.postings = postings_.data() + entry.postings;
  term.chunks = entry.chunks;
  term.number = static_cast<std::uint32_t>(number);
  return term;
}

std::optional<Term> Segment::find(std::string_view wanted) const {
  std::size_t low = 0;
  std::size_t high = header_.terms;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (letters(middle) < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == header_.terms || letters(low) != wanted) return std::nullopt;
  return term(low);
}

Bits Segment::places_of(const std::vector<DocumentId>& wanted) const {
  Bits bits(size());
  if (!documents_ascend_) {
    for (std::size_t i = 0; i < size(); ++i)
      if (std::binary_search(wanted.begin(), wanted.end(), documents_[i])) bits.set(i);
    return bits;
  }
  auto at = documents_.begin();
  for (const DocumentId document : wanted) {
    // Galloping search: fast for long and short lists.
    std::ptrdiff_t step = 1;
    while (documents_.end() - at > step && at[step] < document) step *= 2;
    at = std::lower_bound(at, documents_.end() - at > step ? at + step + 1 : documents_.end(), document);
    for (; at != documents_.end() && *at == document; ++at)
      bits.set(static_cast<std::size_t>(at - documents_.begin()));
    if (at == documents_.end()) break;
  }
  return bits;
}

}  // namespace plimsoll::search
