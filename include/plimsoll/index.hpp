// The port to a search index over chunks. It is derived from the store, and rebuilt if missing or damaged.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/result.hpp"
#include "plimsoll/store.hpp"

namespace plimsoll {

struct Hit {
  ChunkId chunk = 0;
  DocumentId document = 0;
  float score = 0;  // BM25, or the cosine
};

// A word of a query in the form of the index.
struct QueryTerm {
  std::string term;  // folded and stemmed
  float idf = 0;
  float weight = 1;  // relative to the others: words of earlier turns count less than those of the question
};

// Searches are thread-safe. `only`: ascending ids of the documents to search; null:
// all.
class Index {
 public:
  Index() = default;
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;
  virtual ~Index() = default;

  virtual std::size_t size() const = 0;   // chunks that are not deleted
  virtual Revision revision() const = 0;  // of the store that it reflects

  // Best first; at most k, with a score above 0.
  virtual std::vector<Hit> lexical(std::string_view query, std::size_t k,
                                   const std::vector<DocumentId>* only = nullptr) const = 0;
  // Best first. `embedder`: position among the embedders of the index.
  virtual std::vector<Hit> nearest(std::size_t embedder, std::span<const float> query, std::size_t k,
                                   const std::vector<DocumentId>* only = nullptr) const = 0;
  // Returns the query's words without stop words, each once. A word unknown to the index has the largest idf.
  virtual std::vector<QueryTerm> terms(std::string_view query) const = 0;
  virtual float average_words() const = 0;  // per chunk, without stop words

  // Applies the changes of the store since the last refresh. True: there were some.
  virtual Result<bool> refresh() = 0;
};

}  // namespace plimsoll
