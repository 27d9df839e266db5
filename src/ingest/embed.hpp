// From cut documents to what the store takes: every sentence embedded, once.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "plimsoll/embedder.hpp"
#include "plimsoll/store.hpp"

namespace plimsoll::ingest {

// Asked before each few sentences.
struct EmbedProgress {
  std::size_t more = 0;   // sentences embedded since it was asked last
  std::size_t done = 0;   // sentences embedded so far, by this embedder and those before it
  std::size_t total = 0;  // of all embedders, as far as known
};
using KeepGoing = std::function<bool(const EmbedProgress& progress)>;  // false: stop

// `embedders`: those of the index, in its order. `known`: documents with vectors of the same embedders, whose
// sentences are not embedded again. timed_out where it was told to stop.
Result<std::vector<DocumentWithVectors>> embed_documents(std::vector<Document> documents,
                                                         std::span<Embedder* const> embedders,
                                                         std::span<const DocumentWithVectors> known,
                                                         const KeepGoing& keep_going);

}  // namespace plimsoll::ingest
