// The Weaviate server of the setting index_store, for the indexes of a store.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "adapters/weaviate/options.hpp"
#include "config/settings.hpp"
#include "plimsoll/store.hpp"

namespace plimsoll {

// Waits for the turn of an index among all processes that use the store.
using TakeTurn =
    std::function<Result<std::shared_ptr<const void>>(std::string_view owner, std::string_view name)>;

// Whether indexes are on a server.
inline bool has_index_store(const config::Settings& settings) {
  return !settings.index_store.empty();
}

// `index_folder`: of the store, as index_folder() returns it. `turns`: those of a shared store; empty for a
// file.
Result<weaviate::Options> index_store_for(const config::Settings& settings,
                                          const std::filesystem::path& index_folder, const IndexInfo& info,
                                          const TakeTurn& turns);

}  // namespace plimsoll
