// Finds scored sentences for a query: candidates from the indexes, their neighbours from the store, and a
// score for every sentence.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "plimsoll/index.hpp"
#include "plimsoll/passage.hpp"
#include "retrieve/chunk_cache.hpp"
#include "retrieve/score.hpp"

namespace plimsoll::retrieve {

struct GatherOptions {
  std::size_t candidates = 64;  // chunks taken from each index
  std::size_t neighbours = 1;   // chunks before and after a candidate to include
  Filter filter{};
  Weights weights{};
  // Words from the earlier conversation that complete the query; each counts `context_weight`.
  std::string context{};
  float context_weight = 0;
};

// Number of chunks from each index for a budget: twice what fills it, so that the selector has a choice, and
// enough that no single index decides.
constexpr std::size_t candidates_for(Tokens budget, Tokens chunk_tokens) {
  const Tokens wanted = chunk_tokens > 0 ? 2 * budget / chunk_tokens : 64;
  return static_cast<std::size_t>(wanted < 40 ? 40 : wanted > 1'000 ? 1'000 : wanted);
}

// `query_vectors`: one per embedder of the index; an empty one is skipped.
Result<Evidence> gather(Store& store, ChunkCache& cache, const IndexInfo& info, const Index& index,
                        std::string_view query, std::span<const std::vector<float>> query_vectors,
                        const GatherOptions& options);

}  // namespace plimsoll::retrieve
