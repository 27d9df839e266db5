// Indexes on a Weaviate server: the Index port. The store stays the source of truth; what is on the server is
// derived from it and rebuilt if it is lost.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "adapters/weaviate/options.hpp"
#include "plimsoll/http.hpp"
#include "plimsoll/index.hpp"

namespace plimsoll::weaviate {

// Opens the index at the store's current revision. The client and the store must outlive it.
Result<std::unique_ptr<Index>> open_index(HttpClient& http, Store& store, const IndexInfo& info,
                                          const Options& options);

// Removes the data of an index that was removed from the store. Without such data nothing happens.
Result<void> remove_index(HttpClient& http, const IndexInfo& info, const Options& options);

// The name of the collection of an index: that of the store, its number and when it was made.
std::string collection_name(std::string_view store, const IndexInfo& info);

// Returns the version of the server: "1.35.2". An error says why it cannot be used.
Result<std::string> server_version(HttpClient& http, const Options& options);

}  // namespace plimsoll::weaviate
