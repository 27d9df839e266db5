// Settings of the store, and the indexes in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/secret.hpp"
#include "base/settings/setting.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll::library {

struct DocumentSettings {
  std::filesystem::path store_file;                        // <data folder>/store.db
  base::Secret store;                                      // URL of a PostgreSQL server; empty: store_file
  std::int64_t store_connections = 16;                     // to that server, at most
  std::filesystem::path index_cache_dir;                   // <cache folder>/indexes
  base::Secret index_store;                                // URL of a Weaviate server; empty: index_cache_dir
  std::vector<std::string> embedders{"all-minilm-l6-v2"};  // of a new index; empty: keyword search only
  std::int64_t embed_threads = 0;                          // 0: all cores
  Tokens chunk_tokens = 200;                               // of a new index
  std::int64_t max_document_bytes = std::int64_t{64} << 20;
  std::filesystem::path default_vector_db_persist_dir;  // <data folder>/storage
};

// Their names, allowed values and meanings.
std::span<const base::Setting> document_settings();

}  // namespace plimsoll::library
