// Wires the gateway's collections of documents to the store, the embedders and the folder for snapshots.
#pragma once

#include "documents.hpp"
#include "engine/collection.hpp"
#include "gateway/kaito.hpp"

namespace plimsoll {

// All that is given outlives the result.
engine::CollectionTools collection_tools(const base::Settings& settings, Documents& documents,
                                         engine::Shelf& shelf);
gateway::KaitoContext kaito_context(const base::Settings& settings, Documents& documents,
                                    engine::Collections& collections);

}  // namespace plimsoll
