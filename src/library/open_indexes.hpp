// Indexes that stay open between requests, each as fresh as the store.
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

// An open index and what it stands on. Kept alive by whoever searches it.
struct LoadedIndex {
  std::unique_ptr<Index> index;
  OpenIndex open;
  std::vector<std::string> notes;       // "the embedder ... is not at hand"
  std::atomic<std::int64_t> tokens{0};  // of all its documents, by its own tokenizer
};

// Any thread may call at any time. The store outlives it.
class OpenIndexes {
 public:
  using Opener = std::function<Result<std::unique_ptr<LoadedIndex>>(const IndexInfo& info)>;
  OpenIndexes(Store& store, Opener opener) : store_(store), opener_(std::move(opener)) {}

  Store& store() { return store_; }

  // not_found: "No such index: 'X' exists." An index that was changed, also by another process, is brought up
  // to date; one that was removed and made anew is opened anew.
  Result<std::shared_ptr<const LoadedIndex>> take(std::string_view owner, std::string_view name);

  // Of an index that was removed: whoever searches it still may go on.
  void forget(std::string_view owner, std::string_view name);

  bool has(std::string_view owner, std::string_view name) {
    return store_.find_stamp(owner, name).has_value();
  }

 private:
  Store& store_;
  Opener opener_;
  std::mutex mutex_;  // of the map and of opening: the first request waits, the others with it
  std::map<std::pair<std::string, std::string>, std::shared_ptr<LoadedIndex>> open_;
};

}  // namespace plimsoll::library
