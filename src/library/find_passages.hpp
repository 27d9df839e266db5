// Searches one index for one question: embeds it and gathers evidence.
#pragma once

#include <span>
#include <string_view>

#include "plimsoll/embedder.hpp"
#include "plimsoll/index.hpp"
#include "plimsoll/passage.hpp"
#include "retrieve/gather.hpp"

namespace plimsoll::library {

// An open index with its dependencies, which must outlive it.
struct OpenIndex {
  IndexInfo info;
  Store& store;
  retrieve::ChunkCache& chunks;
  const Index& index;
  std::vector<Embedder*> embedders;  // by position in the index; null: not available
};

// Embeds the query with each embedder of the index; empty, with a note, if one fails or is not available.
std::vector<std::vector<float>> query_vectors(const OpenIndex& open, std::string_view query,
                                              Deadline deadline, std::vector<std::string>& notes);

// Returns the evidence for a query. If an embedder fails or is not available, only keywords are searched,
// with a note.
Result<Evidence> find_evidence(const OpenIndex& open, std::string_view query,
                               const retrieve::GatherOptions& options, Deadline deadline);

// Fills in the positions of passages in their source files: bytes, and lines of text files.
Result<void> locate(const OpenIndex& open, Selection& selection);

}  // namespace plimsoll::library
