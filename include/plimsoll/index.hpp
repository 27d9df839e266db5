// The port to a search index over chunks. It is derived from the store, and rebuilt if missing or damaged.
// It may be on a server: what a search cannot ask is an error, never an empty answer.
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
  float weight = 1;    // relative to the others: words of earlier turns count less than those of the question
  std::string word{};  // folded, as in the query
  std::vector<std::string> others{};  // its stems in other languages of the index
};

// How a chunk uses a name (base/text/names.hpp).
enum class NameUse : std::uint8_t {
  mention = 1,  // the name occurs in it
  title = 2,    // its heading, or the title of the document that it opens
  other = 3,    // another name of what it is about: "Santería, also known as Lucumi, is ..."
};

struct NamedChunks {
  std::vector<Hit> chunks;  // each once
  std::size_t total = 0;    // also those that were not returned
};

struct NameCount {
  std::string key;
  std::size_t chunks = 0;  // that mention it
};

// Searches are thread-safe. `only`: ascending ids of the documents to search; null: all. unreachable: the
// server of the index does not answer, or it does not have all of the data at the moment;
// upstream_failed: it refused.
class Index {
 public:
  Index() = default;
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;
  virtual ~Index() = default;

  virtual std::size_t size() const = 0;   // chunks that are not deleted
  virtual Revision revision() const = 0;  // of the store that it reflects

  // Best first; at most k, with a score above 0.
  virtual Result<std::vector<Hit>> lexical(std::string_view query, std::size_t k,
                                           const std::vector<DocumentId>* only = nullptr) const = 0;
  // Best first. `embedder`: position among the embedders of the index.
  virtual Result<std::vector<Hit>> nearest(std::size_t embedder, std::span<const float> query, std::size_t k,
                                           const std::vector<DocumentId>* only = nullptr) const = 0;
  // Returns the query's words without stop words, each once. A word unknown to the index has the largest idf.
  virtual Result<std::vector<QueryTerm>> terms(std::string_view query) const = 0;
  virtual float average_words() const = 0;  // per chunk, without stop words

  // Returns for each key at most `most` chunks that use the name. Many keys at once cost one request to a
  // server.
  virtual Result<std::vector<NamedChunks>> named(NameUse use, std::span<const std::string> keys,
                                                 std::size_t most) const = 0;
  // Returns the names that most chunks mention, most first. Reads all names: not for requests.
  virtual Result<std::vector<NameCount>> most_mentioned(std::size_t most) const = 0;

  // Applies the changes of the store since the last refresh. True: there were some.
  virtual Result<bool> refresh() = 0;
};

}  // namespace plimsoll
