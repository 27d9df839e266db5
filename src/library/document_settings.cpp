#include "library/document_settings.hpp"

#include <array>

namespace plimsoll::library {

std::span<const base::Setting> document_settings() {
  static const std::array declared{
      base::Setting{"store_file", "", base::Path{&DocumentSettings::store_file},
                    "Database file with documents, indexes, keys, sessions and traces."},
      base::Setting{"store", "", base::SecretText{&DocumentSettings::store},
                    "PostgreSQL server that several gateways share, such as "
                    "postgres://USER:PASSWORD@HOST/DATABASE, instead of "
                    "store_file (docs/scale.md). Never shown."},
      base::Setting{"store_connections", "", base::Whole{&DocumentSettings::store_connections, 1, 1'000},
                    "Most connections of one gateway to the server in store."},
      base::Setting{
          "index_cache_dir", "", base::Path{&DocumentSettings::index_cache_dir},
          "Folder for the search data of indexes on the server in store; rebuilt if it is missing."},
      base::Setting{"index_store", "", base::SecretText{&DocumentSettings::index_store},
                    "Weaviate server that has the search data of all indexes, such as "
                    "weaviate://KEY@HOST:8080,HOST:8080?replication=2 (docs/scale.md); empty: this machine. "
                    "Never shown."},
      base::Setting{"embedders", "", base::Names{&DocumentSettings::embedders},
                    "Embedders of a new index: all-minilm-l6-v2, multilingual-e5-small, ollama:MODEL, "
                    "openai:MODEL; empty: "
                    "keyword search only."},
      base::Setting{"embed_threads", "", base::Whole{&DocumentSettings::embed_threads, 0, 256},
                    "Threads of the built-in embedder; 0: all cores."},
      base::Setting{"chunk_tokens", "", base::Whole{&DocumentSettings::chunk_tokens, 32, 4'096},
                    "Approximate size in tokens of a chunk in a new index."},
      base::Setting{"max_document_bytes", "",
                    base::Whole{&DocumentSettings::max_document_bytes, 1, std::int64_t{1} << 40},
                    "Largest document in bytes; larger files are skipped and reported."},
      base::Setting{"default_vector_db_persist_dir", "DEFAULT_VECTOR_DB_PERSIST_DIR",
                    base::Path{&DocumentSettings::default_vector_db_persist_dir},
                    "Folder where POST /persist writes snapshots of indexes and POST /load reads them."},
  };
  return declared;
}

}  // namespace plimsoll::library
