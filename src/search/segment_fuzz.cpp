// Any bytes as an inverted index, with a header and a checksum that were made to fit: refused, or searched to
// the end.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "search/lexical.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll::search;
  std::vector<std::uint64_t> words((size + sizeof(SegmentHeader)) / 8 + 1);
  const std::span bytes = std::as_writable_bytes(std::span(words));
  if (size > 0) std::memcpy(bytes.data(), data, size);

  const bool mended = size > 0 && data[0] == 'P';
  if (mended) {  // past the first checks, to where the structure is checked
    SegmentHeader header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    header.magic = segment_magic;
    header.schema = segment_schema;
    header.chunks %= 512;
    header.terms %= 64;
    header.blocks %= 64;
    header.letters %= 512;
    header.postings %= 4096;
    header.bytes = layout_of(header).end;
    words.resize(header.bytes / 8);
    std::memcpy(words.data(), &header, sizeof(header));
    const std::uint64_t sum = checksum_of(std::as_bytes(std::span(words)));
    std::memcpy(reinterpret_cast<char*>(words.data()) + offsetof(SegmentHeader, checksum), &sum, sizeof(sum));
  }
  auto segment = Segment::open(std::as_bytes(std::span(words)), nullptr);
  if (!segment) {
    if (segment.error().code != plimsoll::Errc::damaged) std::abort();
    return 0;
  }
  const auto kept = std::make_shared<const Segment>(*std::move(segment));
  const Lexical lexical({std::make_shared<const LivingPart>(kept, nullptr)});
  for (std::size_t i = 0; i < kept->terms(); ++i) (void)lexical.search(kept->letters(i), 10, nullptr);
  const SegmentPart part{kept, nullptr};
  if (merge(std::span(&part, 1), 1, 1, kept->header().highest).size() != kept->size()) std::abort();
  return 0;
}
