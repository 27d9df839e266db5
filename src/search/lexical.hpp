// BM25 over segments: an immutable state of the inverted index.
// Thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/index.hpp"
#include "search/bm25.hpp"
#include "search/segment_builder.hpp"

namespace plimsoll::search {

// A segment with its deleted chunks.
class LivingPart {
 public:
  LivingPart(std::shared_ptr<const Segment> segment, std::shared_ptr<const Bits> dead);

  const Segment& segment() const { return *part_.segment; }
  const SegmentPart& part() const { return part_; }
  bool is_dead(Place place) const { return part_.dead && part_.dead->test(place); }
  std::size_t living() const { return segment().size() - dead_chunks_; }
  std::uint64_t living_words() const { return segment().header().words - dead_words_; }
  // Returns the number of live chunks with the term.
  std::uint64_t living_with(const Term& term) const;

 private:
  SegmentPart part_;
  std::size_t dead_chunks_ = 0;
  std::uint64_t dead_words_ = 0;
  // Per term, computed on first use: deleted chunks with the term, plus one. Null: no deleted chunks.
  std::unique_ptr<std::atomic<std::uint32_t>[]> dead_with_;
};

class Lexical {
 public:
  // Chunk ids ascend from part to part.
  explicit Lexical(std::vector<std::shared_ptr<const LivingPart>> parts);

  std::size_t size() const { return living_; }
  double average_words() const { return average_; }
  const std::vector<std::shared_ptr<const LivingPart>>& parts() const { return parts_; }
  const Shares& shares() const { return *shares_; }

  std::vector<QueryTerm> terms(std::string_view query) const;
  // Returns the chunks that use a name.
  NamedChunks named(NameUse use, std::string_view key, std::size_t most) const;
  std::vector<NameCount> most_mentioned(std::size_t most) const;
  // Returns the best k, best first, ties by lower chunk id.
  std::vector<Hit> search(std::string_view query, std::size_t k, const std::vector<DocumentId>* only) const;
  // The same by reading every posting, for tests.
  std::vector<Hit> search_all(std::string_view query, std::size_t k,
                              const std::vector<DocumentId>* only) const;

 private:
  std::vector<std::shared_ptr<const LivingPart>> parts_;
  std::size_t living_ = 0;
  double average_ = 1;
  std::unique_ptr<const Shares> shares_;
};

}  // namespace plimsoll::search
