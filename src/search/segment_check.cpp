// Checks the consistency of a segment once, when it is opened.
#include <algorithm>
#include <numeric>

#include "base/try.hpp"
#include "search/segment.hpp"

namespace plimsoll::search {

namespace {

tl::unexpected<Error> broken(std::string_view what) {
  return fail(Errc::damaged, "the inverted index is inconsistent: {}", what);
}

}  // namespace

Result<void> Segment::check() const {
  if (std::adjacent_find(chunks_.begin(), chunks_.end(), std::greater_equal<>()) != chunks_.end())
    return broken("chunk ids do not ascend");
  if (!chunks_.empty() && chunks_.back() > header_.highest) return broken("a chunk id is above the highest");
  if (std::accumulate(lengths_.begin(), lengths_.end(), std::uint64_t{0}) != header_.words)
    return broken("lengths do not add up");
  if (!(header_.average > 0) || !(header_.average <= 65'535))
    return broken("the average length is out of range");

  const TermEntry& end = entries_.back();
  if (entries_.front().postings != 0 || entries_.front().letters != 0 || entries_.front().block != 0)
    return broken("the first term does not start at the start");
  if (end.postings != header_.postings || end.letters != header_.letters || end.block != header_.blocks)
    return broken("the last term does not end at the end");
  // All borders first: reading a term needs its own and the next one's.
  for (std::size_t i = 0; i < header_.terms; ++i) {
    const TermEntry& here = entries_[i];
    const TermEntry& next = entries_[i + 1];
    if (here.postings > next.postings || here.letters > next.letters || here.block > next.block ||
        next.postings > header_.postings || next.letters > header_.letters || next.block > header_.blocks)
      return broken("terms do not follow each other");
    if (here.chunks == 0 || here.chunks > header_.chunks ||
        next.block - here.block != (std::uint64_t{here.chunks} + block_postings - 1) / block_postings)
      return broken("a term has a wrong number of blocks");
  }
  DecodedBlock block;
  for (std::size_t i = 0; i < header_.terms; ++i) {
    if (i > 0 && letters(i - 1) >= letters(i)) return broken("terms do not ascend");
    TRY_VOID(check_term(i, block));
  }
  return {};
}

Result<void> Segment::check_term(std::size_t number, DecodedBlock& block) const {
  const Term found = term(number);
  const std::uint64_t bytes = entries_[number + 1].postings - entries_[number].postings;
  std::uint64_t next = 0;  // the lowest possible next place
  for (std::size_t i = 0; i < found.blocks.size(); ++i) {
    const BlockEntry& entry = found.blocks[i];
    const std::size_t size = found.size_of(i);
    if (entry.gap_bits > 32 || entry.count_bits > 32) return broken("a block has numbers of over 32 bits");
    if (entry.postings + packed_bytes(size, entry.gap_bits) + packed_bytes(size, entry.count_bits) > bytes)
      return broken("a block reaches beyond its term");
    if (entry.last >= header_.chunks) return broken("a posting has no chunk");
    // Added up in 64 bits, so that no gap can overflow the sum.
    unpack(found.postings + entry.postings, size, entry.gap_bits, block.places.data());
    for (std::size_t j = 0; j < size; ++j) next += std::uint64_t{block.places[j]} + 1;
    if (next != std::uint64_t{entry.last} + 1) return broken("a block does not end where it says");
  }
  return {};
}

}  // namespace plimsoll::search
