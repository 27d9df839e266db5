// Chunks of a collection as clients see them: listed, or ranked for a query.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "library/find_passages.hpp"

namespace plimsoll::library {

// A chunk with properties of its document.
struct Node {
  std::string document;  // its key
  Span span;             // of the document's text
  std::string text;
  Metadata metadata;

  std::string id() const { return fmt::format("{}:{}-{}", document, span.start, span.end); }
};

struct NodePage {
  std::vector<Node> nodes;
  std::int64_t total = 0;  // of the matching documents
};

// In the order in which their documents were added.
Result<NodePage> list_nodes(Store& store, const IndexInfo& info, const Filter& filter, std::int64_t offset,
                            std::int64_t limit);

struct RankedNode {
  Node node;
  double score = 0;              // of its best sentence: 0 to about 1, within one query
  double relevance = 0;          // the same, comparable between queries; docs/search.md
  std::optional<double> dense;   // cosine; none: not among the nearest
  std::optional<double> sparse;  // BM25; none: not among those with the query's words
};

// Best first, at most `most`; by keyword and vector search. Of the options, the filter, the context and the
// weights are used.
Result<std::vector<RankedNode>> rank_nodes(const OpenIndex& open, std::string_view query, std::size_t most,
                                           retrieve::GatherOptions options, Deadline deadline);

}  // namespace plimsoll::library
