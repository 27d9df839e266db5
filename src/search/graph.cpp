#include "search/graph.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

namespace plimsoll::search {

namespace {

constexpr std::size_t widest = Graph::ground_links;

std::uint32_t load(const std::uint32_t& value) {
  return std::atomic_ref<std::uint32_t>(const_cast<std::uint32_t&>(value)).load(std::memory_order_acquire);
}
void store(std::uint32_t& at, std::uint32_t value) {
  std::atomic_ref<std::uint32_t>(at).store(value, std::memory_order_release);
}

bool nearer(const Neighbour& a, const Neighbour& b) {
  return a.similarity > b.similarity || (a.similarity == b.similarity && a.node < b.node);
}
bool farther(const Neighbour& a, const Neighbour& b) {
  return nearer(b, a);
}

// The nodes that a search has visited. One per thread; clearing costs only the marked nodes.
class Seen {
 public:
  void begin() {
    for (const std::uint32_t word : marked_) words_[word] = 0;
    marked_.clear();
  }
  // False: already visited.
  bool mark(Node node) {
    const std::uint32_t word = node / 64;
    const std::uint64_t bit = std::uint64_t{1} << (node % 64);
    if (word >= words_.size()) words_.resize(std::size_t{word} * 2 + 1024);
    if ((words_[word] & bit) != 0) return false;
    if (words_[word] == 0) marked_.push_back(word);
    words_[word] |= bit;
    return true;
  }

 private:
  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> marked_;
};

void prefetch(const Bf16* vector, std::size_t dimensions) {
  const char* bytes = reinterpret_cast<const char*>(vector);
  for (std::size_t at = 0; at < dimensions * sizeof(Bf16); at += 64) __builtin_prefetch(bytes + at);
}

}  // namespace

Graph::Graph(const StableRows<Bf16>& vectors) : vectors_(vectors), dot_(fastest_dot()) {}

// One in `links` nodes of a level is also on the next; deterministic per node.
unsigned Graph::level_for(Node node) {
  std::uint64_t value = (std::uint64_t{node} + 1) * 0x9E3779B97F4A7C15U;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  value ^= value >> 31U;
  unsigned level = 0;
  for (; level < most_levels && value % links == 0; ++level) value /= links;
  return level;
}

std::uint32_t* Graph::row_of(Node node, unsigned level) const {
  if (level == 0) return rows_.ground.writable(node);
  return rows_.upper.writable(rows_.first_upper.row(node)[0] - 1 + (level - 1));
}

std::size_t Graph::read_links(Node node, unsigned level, Node* out) const {
  const std::uint32_t* row = row_of(node, level);
  const std::size_t count = load(row[0]);
  for (std::size_t i = 0; i < count; ++i) out[i] = load(row[i + 1]);
  return count;
}

void Graph::write_links(Node node, unsigned level, const std::vector<Neighbour>& chosen) {
  std::uint32_t* row = row_of(node, level);
  // A reader that sees the old count also sees valid, older nodes after the new end.
  for (std::size_t i = 0; i < chosen.size(); ++i) store(row[i + 1], chosen[i].node);
  store(row[0], static_cast<std::uint32_t>(chosen.size()));
}

// Descends from the entry to the level above `level` and returns some of the nearest nodes there. More than
// one, because on a sparse level the nearest node may belong to the wrong topic.
void Graph::descend(const float* query, std::uint64_t entry, unsigned level,
                    std::vector<Neighbour>& at) const {
  const auto first = static_cast<Node>(entry);
  at.assign(1, {dot_.dot(vectors_.row(first), query, vectors_.width()), first});
  static thread_local std::vector<Neighbour> from;
  for (auto here = static_cast<unsigned>(entry >> 32U); here > level; --here) {
    from.swap(at);
    search_level(
        query, from, here, descent_effort, [](Node) { return true; }, at);
  }
}

// `best` becomes a heap of passing nodes with the worst on top; the walk uses all nodes.
template <typename Passes>
void Graph::search_level(const float* query, const std::vector<Neighbour>& from, unsigned level,
                         std::size_t effort, const Passes& passes, std::vector<Neighbour>& best) const {
  static thread_local Seen seen;
  static thread_local std::vector<Neighbour> open;  // a heap, the nearest on top
  seen.begin();
  open.clear();
  best.clear();
  const auto take = [&](const Neighbour& one) {
    open.push_back(one);
    std::push_heap(open.begin(), open.end(), farther);
    if (!passes(one.node)) return;
    best.push_back(one);
    std::push_heap(best.begin(), best.end(), nearer);
    if (best.size() > effort) {
      std::pop_heap(best.begin(), best.end(), nearer);
      best.pop_back();
    }
  };
  for (const Neighbour& one : from)
    if (seen.mark(one.node)) take(one);
  std::array<Node, widest> next{};
  while (!open.empty()) {
    const Neighbour at = open.front();
    if (best.size() == effort && nearer(best.front(), at)) break;
    std::pop_heap(open.begin(), open.end(), farther);
    open.pop_back();
    const std::size_t count = read_links(at.node, level, next.data());
    std::size_t fresh = 0;
    for (std::size_t i = 0; i < count; ++i)
      if (seen.mark(next[i])) next[fresh++] = next[i];
    constexpr std::size_t ahead = 3;  // vectors to prefetch while one is compared
    for (std::size_t i = 0; i < std::min(ahead, fresh); ++i)
      prefetch(vectors_.row(next[i]), vectors_.width());
    for (std::size_t i = 0; i < fresh; ++i) {
      if (i + ahead < fresh) prefetch(vectors_.row(next[i + ahead]), vectors_.width());
      const Neighbour one{dot_.dot(vectors_.row(next[i]), query, vectors_.width()), next[i]};
      if (best.size() < effort || nearer(one, best.front())) take(one);
    }
  }
}

std::vector<Neighbour> Graph::search(const float* query, std::size_t effort, std::size_t end,
                                     const Test& passes) const {
  std::vector<Neighbour> best;
  if (empty_.load(std::memory_order_acquire) || effort == 0) return best;
  const std::uint64_t entry = entry_.load(std::memory_order_acquire);
  std::vector<Neighbour> from;
  descend(query, entry, 0, from);
  if (passes)
    search_level(
        query, from, 0, effort, [&](Node node) { return node < end && passes(node); }, best);
  else
    search_level(
        query, from, 0, effort, [&](Node node) { return node < end; }, best);
  std::sort(best.begin(), best.end(), nearer);
  return best;
}

void Graph::add_until(std::size_t end, unsigned threads) {
  const std::size_t begin = size_;
  if (begin >= end) return;
  rows_.ground.grow_to(end);
  rows_.levels.grow_to(end);
  rows_.first_upper.grow_to(end);
  for (std::size_t i = begin; i < end; ++i) {
    const unsigned level = level_for(static_cast<Node>(i));
    *rows_.levels.writable(i) = static_cast<std::uint8_t>(level);
    if (level == 0) continue;
    *rows_.first_upper.writable(i) = static_cast<std::uint32_t>(rows_.upper.size() + 1);
    rows_.upper.grow_to(rows_.upper.size() + level);
  }
  std::atomic<std::size_t> next{begin};
  if (begin == 0) {  // the first node has no neighbours
    entry_.store(entry_of(0, rows_.levels.row(0)[0]), std::memory_order_release);
    empty_.store(false, std::memory_order_release);
    next = 1;
  }
  const auto work = [&] {
    for (std::size_t node = next++; node < end; node = next++) add(static_cast<Node>(node));
  };
  // Starting a thread costs more than a few nodes.
  const std::size_t wanted = std::min<std::size_t>(threads, (end - begin) / 16);
  std::vector<std::jthread> helpers;
  for (std::size_t i = 1; i < wanted; ++i) helpers.emplace_back(work);
  work();
  helpers.clear();  // waits
  size_ = end;
}

void Graph::add(Node node) {
  const unsigned level = rows_.levels.row(node)[0];
  std::unique_lock<std::mutex> top(top_, std::defer_lock);
  std::uint64_t entry = entry_.load(std::memory_order_acquire);
  if (level > entry >> 32U) {
    top.lock();
    entry = entry_.load(std::memory_order_acquire);
  }
  const auto top_level = static_cast<unsigned>(entry >> 32U);

  static thread_local std::vector<float> query;
  query.resize(vectors_.width());
  const Bf16* vector = vectors_.row(node);
  for (std::size_t i = 0; i < query.size(); ++i) query[i] = to_float(vector[i]);

  std::vector<Neighbour> from;
  std::vector<Neighbour> found;
  const unsigned highest = std::min(level, top_level);
  descend(query.data(), entry, highest, from);
  for (unsigned here = highest + 1; here-- > 0;) {
    search_level(
        query.data(), from, here, build_effort, [node](Node other) { return other != node; }, found);
    from = found;
    connect(node, here, found);
  }
  if (level > top_level) entry_.store(entry_of(node, level), std::memory_order_release);
}

void Graph::connect(Node node, unsigned level, std::vector<Neighbour>& found) {
  choose(found, links);
  {
    const std::lock_guard lock(lock_of(node));
    // Other threads may already have linked to it, through the level above.
    std::array<Node, widest> before{};
    std::vector<Neighbour> mine = found;
    const std::size_t count = read_links(node, level, before.data());
    for (std::size_t i = 0; i < count; ++i) {
      const auto same = [&](const Neighbour& one) { return one.node == before[i]; };
      if (std::none_of(mine.begin(), mine.end(), same))
        mine.push_back(
            {dot_.dot_both(vectors_.row(before[i]), vectors_.row(node), vectors_.width()), before[i]});
    }
    choose(mine, level == 0 ? ground_links : links);
    write_links(node, level, mine);
  }
  for (const Neighbour& one : found) link_back(one.node, node, one.similarity, level);
}

void Graph::link_back(Node from, Node to, float similarity, unsigned level) {
  const std::size_t most = level == 0 ? ground_links : links;
  const std::lock_guard lock(lock_of(from));
  std::array<Node, widest> before{};
  const std::size_t count = read_links(from, level, before.data());
  if (std::find(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(count), to) !=
      before.begin() + static_cast<std::ptrdiff_t>(count))
    return;
  if (count < most) {
    std::uint32_t* row = row_of(from, level);
    store(row[count + 1], to);
    store(row[0], static_cast<std::uint32_t>(count + 1));
    return;
  }
  std::vector<Neighbour> all{{similarity, to}};
  for (std::size_t i = 0; i < count; ++i)
    all.push_back({dot_.dot_both(vectors_.row(from), vectors_.row(before[i]), vectors_.width()), before[i]});
  choose(all, most);
  write_links(from, level, all);
}

// Keeps candidates that are nearer to the node than to any kept one: links in all directions reach further
// than links into one cluster. Of equal vectors only the latest are kept: texts that occur a hundred times
// would otherwise fill each other's links and be cut off from the rest; this way they form
// a chain.
void Graph::choose(std::vector<Neighbour>& candidates, std::size_t most) const {
  constexpr std::size_t most_alike = 4;
  constexpr float alike = 0.9999F;
  std::sort(candidates.begin(), candidates.end(), [](const Neighbour& a, const Neighbour& b) {
    return a.similarity > b.similarity || (a.similarity == b.similarity && a.node > b.node);
  });
  std::vector<Neighbour> kept;
  for (const Neighbour& one : candidates) {
    if (kept.size() == most) break;
    const Bf16* vector = vectors_.row(one.node);
    std::size_t same = 0;
    const bool in_a_crowd = std::any_of(kept.begin(), kept.end(), [&](const Neighbour& other) {
      const float similarity = dot_.dot_both(vector, vectors_.row(other.node), vectors_.width());
      same += similarity >= alike ? 1 : 0;
      return similarity > one.similarity && similarity < alike;
    });
    if (!in_a_crowd && same < most_alike) kept.push_back(one);
  }
  candidates = std::move(kept);
}

bool Graph::holds_together(const Saved& rows, std::size_t size, std::uint64_t entry) const {
  if (rows.ground.size() != size || rows.levels.size() != size || rows.first_upper.size() != size)
    return false;
  std::uint64_t next_upper = 1;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint8_t level = rows.levels.row(i)[0];
    if (level > most_levels || rows.first_upper.row(i)[0] != (level > 0 ? next_upper : 0)) return false;
    next_upper += level;
  }
  if (next_upper != rows.upper.size() + 1) return false;
  if (size > 0 &&
      (static_cast<Node>(entry) >= size || rows.levels.row(static_cast<Node>(entry))[0] != entry >> 32U))
    return false;
  const auto leads_right = [&](const std::uint32_t* row, std::size_t most, unsigned level) {
    return row[0] <= most && std::all_of(row + 1, row + 1 + row[0], [&](std::uint32_t node) {
             return node < size && rows.levels.row(node)[0] >= level;
           });
  };
  for (std::size_t i = 0; i < size; ++i) {
    if (!leads_right(rows.ground.row(i), ground_links, 0)) return false;
    for (unsigned level = 1; level <= rows.levels.row(i)[0]; ++level)
      if (!leads_right(rows.upper.row(rows.first_upper.row(i)[0] - 1 + level - 1), links, level))
        return false;
  }
  return true;
}

bool Graph::restore(Saved&& rows, std::size_t size, std::uint64_t entry) {
  if (!holds_together(rows, size, entry)) return false;
  rows_ = std::move(rows);
  size_ = size;
  entry_.store(entry, std::memory_order_release);
  empty_.store(size == 0, std::memory_order_release);
  return true;
}

}  // namespace plimsoll::search
