// The result of open_index(). Private to the adapter.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <unordered_map>

#include "adapters/weaviate/collection.hpp"
#include "adapters/weaviate/index.hpp"
#include "adapters/weaviate/nodes.hpp"
#include "base/text/query_words.hpp"

namespace plimsoll::weaviate {

class RemoteIndex final : public Index {
 public:
  RemoteIndex(HttpClient& http, Store& store, IndexInfo info, const Options& options);

  std::size_t size() const override;
  Revision revision() const override;
  float average_words() const override;
  Result<std::vector<Hit>> lexical(std::string_view query, std::size_t k,
                                   const std::vector<DocumentId>* only) const override;
  Result<std::vector<Hit>> nearest(std::size_t embedder, std::span<const float> query, std::size_t k,
                                   const std::vector<DocumentId>* only) const override;
  Result<std::vector<QueryTerm>> terms(std::string_view query) const override;
  Result<std::vector<NamedChunks>> named(NameUse use, std::span<const std::string> keys,
                                         std::size_t most) const override;
  Result<std::vector<NameCount>> most_mentioned(std::size_t most) const override;
  Result<bool> refresh() override;

 private:
  // What was asked of the server, for one revision.
  struct Known {
    Progress progress;
    bool has_languages = false;
    std::vector<base::LanguageShare> languages;
    std::unordered_map<std::string, std::uint64_t> with_term;
    std::unordered_map<std::string, NamedChunks> named;  // by use and key
  };

  Progress progress() const;
  void publish(const Progress& progress);
  Result<Json> query(std::string graphql) const;
  // Whether a search in so many chunks has seen all that were there at this revision.
  Result<bool> is_complete(std::uint64_t counted) const;
  Result<std::vector<QueryTerm>> words_of(std::string_view query) const;
  Result<std::vector<base::LanguageShare>> languages() const;
  Result<std::vector<std::uint64_t>> count_terms(const std::vector<std::string>& terms) const;
  Result<std::vector<NamedChunks>> ask_named(NameUse use, const std::vector<std::string>& keys,
                                             std::size_t most) const;

  Result<IndexInfo> find();
  Result<Progress> build(const IndexInfo& now);
  Result<void> catch_up(Progress& progress, Revision revision);
  Result<void> remove_gone(Progress& progress);
  Result<void> add_new(Progress& progress);
  Result<bool> has_all(const IndexInfo& now) const;

  Store& store_;
  const IndexInfo info_;
  const Nodes nodes_;
  const Collection collection_;

  std::mutex changing_;  // one refresh at a time
  mutable std::mutex known_mutex_;
  mutable Known known_;
  mutable std::atomic<bool> lost_ = false;  // the server no longer has the collection
};

}  // namespace plimsoll::weaviate
