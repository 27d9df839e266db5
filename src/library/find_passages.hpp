// One question to one index: embed it, gather evidence, choose what fits.
#pragma once

#include <span>
#include <string_view>

#include "plimsoll/embedder.hpp"
#include "plimsoll/index.hpp"
#include "plimsoll/passage.hpp"
#include "retrieve/gather.hpp"

namespace plimsoll::library {

// An index that is open, with what belongs to it. All outlive it.
struct OpenIndex {
  IndexInfo info;
  Store& store;
  retrieve::ChunkCache& chunks;
  const Index& index;
  std::vector<Embedder*> embedders;  // by place in the index; null: not at hand
};

// The query by each embedder of the index; empty where it fails or is not at hand, and a note says so.
std::vector<std::vector<float>> query_vectors(const OpenIndex& open, std::string_view query,
                                              Deadline deadline, std::vector<std::string>& notes);

// The evidence for a query. An embedder that fails or is not at hand leaves searching by words, and a note.
Result<Evidence> find_evidence(const OpenIndex& open, std::string_view query,
                               const retrieve::GatherOptions& options, Deadline deadline);

// Fills in where the passages are in the files that they were read from: bytes, and lines of text files.
Result<void> locate(const OpenIndex& open, Selection& selection);

}  // namespace plimsoll::library
