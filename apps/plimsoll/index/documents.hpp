// What commands need to work with documents: the store, the embedders, and indexes that are open for
// searching.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/http/curl_client.hpp"
#include "base/settings/settings.hpp"
#include "index/watched_embedder.hpp"
#include "library/find_passages.hpp"
#include "plimsoll/embedder.hpp"
#include "plimsoll/store.hpp"
#include "plimsoll/tokenizers.hpp"
#include "search/open.hpp"

namespace plimsoll {

// Whose rows they are where no key has made them.
inline constexpr std::string_view local_owner = "local";
inline constexpr std::string_view builtin_embedder = "all-minilm-l6-v2";

class Documents {
 public:
  // `create`: whether a store that is not there is made. Settings outlive it.
  static Result<std::unique_ptr<Documents>> open(const base::Settings& settings, bool create);
  Documents(const Documents&) = delete;
  Documents& operator=(const Documents&) = delete;

  Store& store() { return *store_; }
  const TokenizerLibrary& tokenizers() const { return tokenizers_; }

  // Made at its first use and kept: "all-minilm-l6-v2", "ollama:MODEL", "openai:MODEL".
  Result<Embedder*> embedder(const std::string& name);
  // Is told of every embedding from then on. Before the first embedder is made.
  void watch_embeddings(EmbeddingWatch watch) { watch_ = std::move(watch); }
  // Of an index, in its order. refused: one of them is not at hand, or is not what the index was made with.
  Result<std::vector<Embedder*>> embedders_of(const IndexInfo& info);

  // Ready to be searched. An embedder that is not at hand is null, and why stands in `notes`.
  struct Searchable {
    std::unique_ptr<Index> index;
    library::OpenIndex open;
    std::vector<std::string> notes;
  };
  Result<Searchable> open_index(std::string_view name, std::string_view owner = local_owner);

  // Brings what is derived from an index up to date and writes it down, so that the next search starts at
  // once.
  Result<void> snapshot(const IndexInfo& info);
  // Gives back the disk space of what was removed. A failure is a note: the store is whole without it.
  void compact(std::vector<std::string>& notes);
  // Every fault of the store and of what is derived from it.
  Result<std::vector<std::string>> verify(const IndexInfo& info);

  // Where what is derived from an index lies; `folder_of` an index that is gone may be removed.
  std::filesystem::path folder_of(const IndexInfo& info) const;

 private:
  Documents(const base::Settings& settings, std::unique_ptr<Store> store);
  Result<std::unique_ptr<search::SnapshotIndex>> derived(const IndexInfo& info);
  Result<std::unique_ptr<Embedder>> remote_embedder(const std::string& name);
  Embedder* keep(const std::string& name, std::unique_ptr<Embedder> made, bool remote);

  const base::Settings& settings_;
  TokenizerLibrary tokenizers_;
  std::unique_ptr<Store> store_;
  retrieve::ChunkCache chunks_{*store_};
  adapters::CurlClient http_;
  EmbeddingWatch watch_;
  std::mutex making_;  // of embedders: requests come on several threads
  std::map<std::string, std::unique_ptr<Embedder>> embedders_;
};

}  // namespace plimsoll
