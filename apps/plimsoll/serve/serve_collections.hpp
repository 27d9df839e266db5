// Wires the gateway's collections of documents to the store, the embedders and the folder for snapshots.
#pragma once

#include "gateway/kaito/kaito.hpp"
#include "index/documents.hpp"
#include "library/collections.hpp"

namespace plimsoll {

// All arguments must outlive the result.
library::CollectionTools collection_tools(const config::Settings& settings, Documents& documents,
                                          library::OpenIndexes& open_indexes);
gateway::KaitoContext kaito_context(const config::Settings& settings, Documents& documents,
                                    library::Collections& collections);

}  // namespace plimsoll
