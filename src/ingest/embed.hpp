// From cut documents to what the store takes: every sentence embedded, once.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "plimsoll/embedder.hpp"
#include "plimsoll/store.hpp"

namespace plimsoll::ingest {

// Asked before each some thousand sentences, with how many were embedded since it was asked last. False:
// stop.
using KeepGoing = std::function<bool(std::size_t sentences)>;

// `embedders`: those of the index, in its order. `known`: documents with vectors of the same embedders, whose
// sentences are not embedded again. timed_out where it was told to stop.
Result<std::vector<DocumentWithVectors>> embed_documents(std::vector<Document> documents,
                                                         std::span<Embedder* const> embedders,
                                                         std::span<const DocumentWithVectors> known,
                                                         const KeepGoing& keep_going);

}  // namespace plimsoll::ingest
