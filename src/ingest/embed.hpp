// Adds vectors to chunked documents: every sentence is embedded once.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "plimsoll/embedder.hpp"
#include "plimsoll/store.hpp"

namespace plimsoll::ingest {

// Passed to KeepGoing before every few sentences.
struct EmbedProgress {
  std::size_t more = 0;   // sentences embedded since the last call
  std::size_t done = 0;   // sentences embedded so far, by all embedders
  std::size_t total = 0;  // of all embedders, as far as known
};
using KeepGoing = std::function<bool(const EmbedProgress& progress)>;  // false: stop

// `embedders`: those of the index, in its order. `known`: documents with vectors of the same embedders, whose
// sentences are not embedded again. timed_out: it was stopped.
Result<std::vector<DocumentWithVectors>> embed_documents(std::vector<Document> documents,
                                                         std::span<Embedder* const> embedders,
                                                         std::span<const DocumentWithVectors> known,
                                                         const KeepGoing& keep_going);

}  // namespace plimsoll::ingest
