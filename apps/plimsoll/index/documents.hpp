// Gives commands access to documents: the store, the embedders and open indexes.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/http/curl_client.hpp"
#include "config/settings.hpp"
#include "index/index_store.hpp"
#include "index/watched_embedder.hpp"
#include "library/find_passages.hpp"
#include "plimsoll/embedder.hpp"
#include "plimsoll/store.hpp"
#include "plimsoll/tokenizers.hpp"
#include "search/open.hpp"

namespace plimsoll {

// Owner of rows that were created without a key.
inline constexpr std::string_view local_owner = "local";
inline constexpr std::string_view builtin_embedder = "all-minilm-l6-v2";
inline constexpr std::string_view multilingual_embedder = "multilingual-e5-small";

class Documents {
 public:
  // `create`: create the store if it does not exist. The settings must outlive it.
  static Result<std::unique_ptr<Documents>> open(const config::Settings& settings, bool create);
  Documents(const Documents&) = delete;
  Documents& operator=(const Documents&) = delete;

  Store& store() { return *store_; }
  const TokenizerLibrary& tokenizers() const { return tokenizers_; }

  // Returns an embedder, which is created on first use: "all-minilm-l6-v2", "multilingual-e5-small",
  // "ollama:MODEL", "openai:MODEL".
  Result<Embedder*> embedder(const std::string& name);
  // Returns the embedders of this program: the built-in one, and the multilingual one if it is installed or
  // the setting `embedders` names it.
  std::vector<std::string> own_embedders() const;
  // Sets a callback for every embedding. Call it before the first embedder is created.
  void watch_embeddings(EmbeddingWatch watch) { watch_ = std::move(watch); }
  // Returns the embedders of an index, in its order. refused: one is not available or has changed.
  Result<std::vector<Embedder*>> embedders_of(const IndexInfo& info);

  // Ready to be searched. An embedder that is not available is null; `notes` has the reason.
  struct Searchable {
    std::unique_ptr<Index> index;
    library::OpenIndex open;
    std::vector<std::string> notes;
  };
  Result<Searchable> open_index(std::string_view name, std::string_view owner = local_owner);

  // Updates the search data of an index and saves it, so the next search starts at
  // once.
  Result<void> snapshot(const IndexInfo& info);
  // Deletes the search data of an index. It is built again from the store, unless the index was removed.
  Result<void> forget(const IndexInfo& info);
  // Frees the disk space of removed rows. A failure only adds a note: the store stays consistent.
  void compact(std::vector<std::string>& notes);
  // Lists all faults of the store and of the search data.
  Result<std::vector<std::string>> verify(const IndexInfo& info);

 private:
  Documents(const config::Settings& settings, std::unique_ptr<Store> store, std::filesystem::path folder);
  Result<std::unique_ptr<search::SnapshotIndex>> derived(const IndexInfo& info);
  Result<std::unique_ptr<Index>> opened(const IndexInfo& info);
  std::filesystem::path folder_of(const IndexInfo& info) const;
  Result<std::unique_ptr<Embedder>> minilm_embedder() const;
  Result<std::filesystem::path> e5_file() const;  // empty: it is not installed
  Result<std::unique_ptr<Embedder>> e5_embedder() const;
  Result<std::unique_ptr<Embedder>> remote_embedder(const std::string& name);
  Embedder* keep(const std::string& name, std::unique_ptr<Embedder> made, bool remote);

  const config::Settings& settings_;
  TokenizerLibrary tokenizers_;
  std::unique_ptr<Store> store_;
  std::filesystem::path folder_;  // of all search data
  TakeTurn turns_;                // empty: the store is a file
  retrieve::ChunkCache chunks_{*store_};
  adapters::CurlClient http_;
  EmbeddingWatch watch_;
  std::mutex making_;  // guards embedders_: requests run on several threads
  std::map<std::string, std::unique_ptr<Embedder>> embedders_;
};

}  // namespace plimsoll
