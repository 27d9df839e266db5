// From a query to scored sentences: candidates out of the indexes, their surroundings out of the store, and a
// score for every sentence of them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "plimsoll/index.hpp"
#include "plimsoll/passage.hpp"
#include "retrieve/score.hpp"

namespace plimsoll::retrieve {

struct GatherOptions {
  std::size_t candidates = 64;  // chunks taken from each index
  std::size_t neighbours = 1;   // chunks before and after a candidate that are read with it
  Filter filter{};
  Weights weights{};
};

// `query_vectors`: by embedder of the index; an empty one is not compared.
Result<Evidence> gather(Store& store, const IndexInfo& info, const Index& index, std::string_view query,
                        std::span<const std::vector<float>> query_vectors, const GatherOptions& options);

}  // namespace plimsoll::retrieve
