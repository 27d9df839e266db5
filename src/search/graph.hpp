// A navigable small world graph over vectors (HNSW: Malkov and Yashunin, 2016): finds most of the nearest in
// logarithmic time.
//
// Each node has links to near nodes, on a number of levels derived from its number. A search descends from
// the top, always to the nearest. Nodes are only added; the search decides which may be returned, so deleted
// nodes are still used for walking but never returned. Threads may search while others add: links
// are single numbers that are read and written atomically, and a half-changed list is still a list of
// nodes. One caller at a time may add, with any number of threads.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include "search/dot/dot.hpp"
#include "search/stable_rows.hpp"

namespace plimsoll::search {

using Node = std::uint32_t;

struct Neighbour {
  float similarity = 0;
  Node node = 0;
  auto operator<=>(const Neighbour&) const = default;
};

class Graph {
 public:
  static constexpr std::size_t links = 16;         // on the upper levels
  static constexpr std::size_t ground_links = 32;  // on the lowest
  static constexpr std::size_t build_effort = 200;
  static constexpr std::size_t descent_effort = 8;
  static constexpr unsigned most_levels = 12;

  explicit Graph(const StableRows<Bf16>& vectors);

  std::size_t size() const { return size_; }
  // Adds the vectors up to `end`.
  void add_until(std::size_t end, unsigned threads);

  // Returns the nearest nodes below `end` that pass, best first, at most `effort`. Null test:
  // all pass.
  using Test = std::function<bool(Node)>;
  std::vector<Neighbour> search(const float* query, std::size_t effort, std::size_t end,
                                const Test& passes) const;

  // For storing it in a file. A row has a count, then links.
  struct Saved {
    StableRows<std::uint32_t> ground{ground_links + 1};
    StableRows<std::uint32_t> upper{links + 1};
    StableRows<std::uint32_t> first_upper{1};  // per node: its row on level 1, from 1; 0: none
    StableRows<std::uint8_t> levels{1};
  };
  const Saved& saved() const { return rows_; }
  std::uint64_t entry() const { return entry_.load(std::memory_order_relaxed); }
  // False: inconsistent; the graph stays empty.
  bool restore(Saved&& rows, std::size_t size, std::uint64_t entry);

 private:
  static std::uint64_t entry_of(Node node, unsigned level) { return std::uint64_t{level} << 32U | node; }
  static unsigned level_for(Node node);
  std::uint32_t* row_of(Node node, unsigned level) const;
  std::size_t read_links(Node node, unsigned level, Node* out) const;
  void write_links(Node node, unsigned level, const std::vector<Neighbour>& chosen);
  std::mutex& lock_of(Node node) const { return locks_[node % locks_.size()]; }

  void descend(const float* query, std::uint64_t entry, unsigned level, std::vector<Neighbour>& at) const;
  template <typename Passes>
  void search_level(const float* query, const std::vector<Neighbour>& from, unsigned level,
                    std::size_t effort, const Passes& passes, std::vector<Neighbour>& best) const;
  void add(Node node);
  void connect(Node node, unsigned level, std::vector<Neighbour>& found);
  void link_back(Node from, Node to, float similarity, unsigned level);
  void choose(std::vector<Neighbour>& candidates, std::size_t most) const;
  bool holds_together(const Saved& rows, std::size_t size, std::uint64_t entry) const;

  const StableRows<Bf16>& vectors_;
  const NamedDot& dot_;
  mutable Saved rows_;
  std::size_t size_ = 0;
  std::atomic<std::uint64_t> entry_{0};  // level and node where searches start
  std::atomic<bool> empty_{true};
  std::mutex top_;  // held while a node above all others is added
  mutable std::array<std::mutex, 1024> locks_;
};

}  // namespace plimsoll::search
