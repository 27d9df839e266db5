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
  bool parts = true;  // split a question of several parts; read by library::find_evidence
  bool links = true;  // follow the names in the best sentences to other documents
};

// Number of chunks from each index for a budget: twice what fills it, so that the selector has a choice, and
// enough that no single index decides.
constexpr std::size_t candidates_for(Tokens budget, Tokens chunk_tokens) {
  const Tokens wanted = chunk_tokens > 0 ? 2 * budget / chunk_tokens : 64;
  return static_cast<std::size_t>(wanted < 40 ? 40 : wanted > 1'000 ? 1'000 : wanted);
}

// A query as a whole, or one of its parts.
struct QueryView {
  std::string text;
  std::vector<std::vector<float>> vectors;  // one per embedder of the index; an empty one is skipped
  float rest = 0;  // weight of the words of the other parts: they say what this one is about
};

// With several views, each sentence gets the best of its scores, and `ScoredSentence::part` says whose it is.
// The best scores of all views are equal.
Result<Evidence> gather(Store& store, ChunkCache& cache, const IndexInfo& info, const Index& index,
                        std::string_view query, std::span<const QueryView> views,
                        const GatherOptions& options);
// The query as one view.
Result<Evidence> gather(Store& store, ChunkCache& cache, const IndexInfo& info, const Index& index,
                        std::string_view query, std::span<const std::vector<float>> query_vectors,
                        const GatherOptions& options);

}  // namespace plimsoll::retrieve
