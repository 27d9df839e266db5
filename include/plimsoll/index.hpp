// The port to what finds chunks: derived from the store, and rebuilt from it when it is missing or damaged.
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

// A word of a query as the index knows it.
struct QueryTerm {
  std::string term;  // folded and stemmed
  float idf = 0;
  float weight = 1;  // beside the others: words of earlier turns count less than the question's own
};

// Any thread may search at any time. `only`: ids of documents, ascending, that hits must come from; null:
// all.
class Index {
 public:
  Index() = default;
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;
  virtual ~Index() = default;

  virtual std::size_t size() const = 0;   // living chunks
  virtual Revision revision() const = 0;  // of the store, that it stands at

  // Best first; at most k, with a score above 0.
  virtual std::vector<Hit> lexical(std::string_view query, std::size_t k,
                                   const std::vector<DocumentId>* only = nullptr) const = 0;
  // Best first. `embedder`: which of the index's, by place.
  virtual std::vector<Hit> nearest(std::size_t embedder, std::span<const float> query, std::size_t k,
                                   const std::vector<DocumentId>* only = nullptr) const = 0;
  // The query's words without stop words, each once. One that the index has never seen has the largest idf.
  virtual std::vector<QueryTerm> terms(std::string_view query) const = 0;
  virtual float average_words() const = 0;  // of a chunk, stop words left out

  // Takes in what changed in the store since. True: something did.
  virtual Result<bool> refresh() = 0;
};

}  // namespace plimsoll
