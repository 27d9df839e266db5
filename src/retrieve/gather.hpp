// From a query to scored sentences: candidates out of the indexes, their surroundings out of the store, and a
// score for every sentence of them.
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
  std::size_t neighbours = 1;   // chunks before and after a candidate that are read with it
  Filter filter{};
  Weights weights{};
  // What the query leaves unsaid, from the conversation before it; its words count `context_weight` each.
  std::string context{};
  float context_weight = 0;
};

// Chunks to take from each index for a budget: twice what fills it, so that the selector has a choice, and
// not so few that one index alone decides.
constexpr std::size_t candidates_for(Tokens budget, Tokens chunk_tokens) {
  const Tokens wanted = chunk_tokens > 0 ? 2 * budget / chunk_tokens : 64;
  return static_cast<std::size_t>(wanted < 40 ? 40 : wanted > 1'000 ? 1'000 : wanted);
}

// `query_vectors`: by embedder of the index; an empty one is not compared.
Result<Evidence> gather(Store& store, ChunkCache& cache, const IndexInfo& info, const Index& index,
                        std::string_view query, std::span<const std::vector<float>> query_vectors,
                        const GatherOptions& options);

}  // namespace plimsoll::retrieve
