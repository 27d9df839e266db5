// The vectors of one embedder: exact search for few, a graph for many.
//
// Vectors have fixed slots 0, 1, ... in the order of their chunk ids. Searches use an immutable view: threads
// search views while one adds. A vector that is deleted in a view is never found through
// it.
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plimsoll/index.hpp"
#include "search/bits.hpp"
#include "search/graph.hpp"

namespace plimsoll::search {

struct VectorOptions {
  std::size_t exact_up_to = 20'000;  // vectors; more get a graph
  std::size_t search_effort = 288;   // nodes kept while walking the graph, at least
  // Comparisons of a walk over the whole graph; the cost rises if fewer nodes
  // pass.
  std::size_t walk_comparisons = 7000;
  unsigned threads = 2;  // for building the graph
};

class Vectors : public std::enable_shared_from_this<Vectors> {
 public:
  class View;

  Vectors(std::uint32_t dimensions, VectorOptions options);
  Vectors(const Vectors&) = delete;
  Vectors& operator=(const Vectors&) = delete;

  std::uint32_t dimensions() const { return static_cast<std::uint32_t>(vectors_.width()); }
  std::size_t size() const { return vectors_.size(); }
  bool has_graph() const { return graph_.size() > 0; }
  ChunkId highest() const { return highest_; }
  Revision revision() const { return revision_; }

  // Only one thread at a time may change it. Chunk ids must rise.
  void add(ChunkId chunk, DocumentId document, std::span<const Bf16> vector);
  // No chunk up to this id will be added any more.
  void skip_to(ChunkId highest) { highest_ = std::max(highest_, highest); }
  // Adds new vectors to the graph, if there is or should be one.
  void settle();
  // Returns a new view; deleted are those of the previous view and the given ranges.
  View view(const View* before, std::span<const Removed> removed) const;

  // Returns the live vectors of the view, without gaps.
  std::shared_ptr<Vectors> compacted(const View& view) const;

  Result<void> save(const std::filesystem::path& path, const View& view, IndexId index, Revision revision,
                    ChunkId highest) const;
  std::string bytes(const View& view, IndexId index, Revision revision, ChunkId highest) const;
  // damaged: inconsistent data, or another index or other dimensions.
  struct Loaded;
  static Result<Loaded> load(const std::filesystem::path& path, IndexId index, std::uint32_t dimensions,
                             VectorOptions options);
  static Result<Loaded> read(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                             IndexId index, std::uint32_t dimensions, VectorOptions options);

 private:
  friend class View;
  // Writes the file with `write`, which gets its parts.
  template <typename Write>
  auto with_parts(const View& view, IndexId index, Revision revision, ChunkId highest,
                  const Write& write) const;

  VectorOptions options_;
  std::shared_ptr<const void> owner_;  // of the file with the first vectors
  StableRows<ChunkId> chunks_{1};
  StableRows<DocumentId> documents_{1};
  StableRows<Bf16> vectors_;
  Graph graph_;
  ChunkId highest_ = 0;
  Revision revision_ = 0;
};

class Vectors::View {
 public:
  std::size_t living() const { return size_ - dead_count_; }
  std::size_t size() const { return size_; }
  std::size_t dead() const { return dead_count_; }

  // Best first, ties by lower chunk id. The query is normalised.
  std::vector<Hit> nearest(std::span<const float> query, std::size_t k,
                           const std::vector<DocumentId>* only) const;
  // The same by comparing with every vector.
  std::vector<Hit> nearest_exact(std::span<const float> query, std::size_t k,
                                 const std::vector<DocumentId>* only) const;

 private:
  friend class Vectors;

  bool is_dead(std::size_t slot) const { return dead_ && slot < dead_->size() && dead_->test(slot); }
  std::vector<Hit> scan(std::span<const float> query, std::size_t k, const Bits* allowed) const;
  std::vector<Hit> walk(std::span<const float> query, std::size_t k, const Bits* allowed) const;
  Bits slots_of(const std::vector<DocumentId>& only) const;

  std::shared_ptr<const Vectors> all_;
  std::size_t size_ = 0;
  std::size_t in_graph_ = 0;
  std::shared_ptr<const Bits> dead_;
  std::size_t dead_count_ = 0;
};

struct Vectors::Loaded {
  std::shared_ptr<Vectors> vectors;
  View view;
};

}  // namespace plimsoll::search
