// The chunks that a query considers: found by the indexes, and read from the store with their neighbours.
#pragma once

#include <memory>
#include <vector>

#include "plimsoll/index.hpp"
#include "retrieve/chunk_cache.hpp"

namespace plimsoll::retrieve {

// Chunks found by the indexes; `put_in_order` sorts them by document and position and drops repetitions.
struct Candidates {
  struct One {
    DocumentId document = 0;
    ChunkId chunk = 0;
    auto operator<=>(const One&) const = default;
  };
  std::vector<One> all;

  void add(const std::vector<Hit>& hits);
  void put_in_order();
};

// Consecutive chunks of one document.
struct Loaded {
  std::shared_ptr<const DocumentHead> document;
  ChunkCache::Chunks chunks;
};

// Returns the candidates, which are in order, and `neighbours` chunks before and after each of them.
Result<std::vector<Loaded>> load_candidates(ChunkCache& cache, IndexId index, const Candidates& candidates,
                                            std::size_t neighbours);

}  // namespace plimsoll::retrieve
