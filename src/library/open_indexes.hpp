// Keeps indexes open between requests, always up to date with the store.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "library/find_passages.hpp"

namespace plimsoll::library {

// An open index with its dependencies. Running searches keep it alive.
struct LoadedIndex {
  std::unique_ptr<Index> index;
  OpenIndex open;
  std::vector<std::string> notes;       // "the embedder ... is not available"
  std::atomic<std::int64_t> tokens{0};  // of all its documents, by its own tokenizer
};

// Thread-safe. The store must outlive it.
class OpenIndexes {
 public:
  using Opener = std::function<Result<std::unique_ptr<LoadedIndex>>(const IndexInfo& info)>;
  OpenIndexes(Store& store, Opener opener) : store_(store), opener_(std::move(opener)) {}

  Store& store() { return store_; }

  // not_found: "No such index: 'X' exists." Updates an index that was changed, also by another process;
  // reopens one that was recreated.
  Result<std::shared_ptr<const LoadedIndex>> take(std::string_view owner, std::string_view name);

  // Drops a removed index; running searches can finish.
  void forget(std::string_view owner, std::string_view name);

  bool has(std::string_view owner, std::string_view name) {
    return store_.find_stamp(owner, name).has_value();
  }

 private:
  Store& store_;
  Opener opener_;
  std::mutex mutex_;  // guards the map and opening: other requests wait for the first one
  std::map<std::pair<std::string, std::string>, std::shared_ptr<LoadedIndex>> open_;
};

}  // namespace plimsoll::library
