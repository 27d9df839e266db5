// The Store port over PostgreSQL.
#pragma once

#include <memory>
#include <string>

#include "adapters/postgres/options.hpp"
#include "plimsoll/store.hpp"

namespace plimsoll::postgres {

// Several gateways may change and read an index at the same time: changes of one index wait for each other.
// What is removed is in no row any more; when its bytes leave the server's files is up to the server.
Result<std::unique_ptr<Store>> open_documents(const Options& options);

// Returns the ids of all indexes of all owners.
Result<std::vector<IndexId>> index_ids(const Options& options);

// Returns a name for these tables that no other store has: data derived from them is kept under it.
Result<std::string> store_identity(const Options& options);

}  // namespace plimsoll::postgres
