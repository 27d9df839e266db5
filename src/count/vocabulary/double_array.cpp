#include "count/vocabulary/double_array.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <deque>

namespace plimsoll::count {
namespace {

constexpr std::size_t block_size = 256;
// After this many failed placements a block is skipped; the array stays dense enough.
constexpr int patience = 24;
constexpr unsigned root_label = 0xff;

struct Block {
  std::array<std::uint64_t, 4> free{~0ULL, ~0ULL, ~0ULL, ~0ULL};
  std::array<std::uint64_t, 4> base_free{~0ULL, ~0ULL, ~0ULL, ~0ULL};
  int refusals = 0;
};

bool test(const std::array<std::uint64_t, 4>& bits, unsigned i) {
  return (bits[i >> 6] >> (i & 63)) & 1;
}
void clear(std::array<std::uint64_t, 4>& bits, unsigned i) {
  bits[i >> 6] &= ~(1ULL << (i & 63));
}

class Builder {
 public:
  explicit Builder(std::vector<TrieEntry> entries) : entries_(std::move(entries)) {
    std::ranges::stable_sort(entries_, {}, &TrieEntry::text);
  }

  std::vector<TrieNode> build() {
    add_block();
    // Leaves have base 0, and the root is at index 0: neither may look like a child.
    clear(blocks_[0].free, 0);
    clear(blocks_[0].base_free, 0);
    clear(blocks_[0].base_free, root_label);
    nodes_[Trie::root].link = root_label;
    struct Work {
      std::uint32_t node;
      std::size_t begin, end, depth;
    };
    std::deque<Work> queue{{Trie::root, 0, entries_.size(), 0}};
    std::vector<std::pair<unsigned char, std::size_t>> children;
    while (!queue.empty()) {
      const Work work = queue.front();
      queue.pop_front();
      children.clear();
      for (std::size_t i = work.begin; i < work.end; ++i) {
        const std::string_view text = entries_[i].text;
        if (text.size() == work.depth) {
          if (work.depth > 0) nodes_[work.node].value = entries_[i].value;
          continue;
        }
        const auto label = static_cast<unsigned char>(text[work.depth]);
        if (children.empty() || children.back().first != label) children.emplace_back(label, i);
      }
      if (children.empty()) continue;
      const std::uint32_t base = place(children);
      nodes_[work.node].link = (base << 8) | (nodes_[work.node].link & 0xff);
      for (std::size_t i = 0; i < children.size(); ++i) {
        const auto [label, begin] = children[i];
        const std::size_t end = i + 1 < children.size() ? children[i + 1].second : work.end;
        const std::uint32_t child = base ^ label;
        nodes_[child].link = label;
        queue.push_back({child, begin, end, work.depth + 1});
      }
    }
    seal();
    return std::move(nodes_);
  }

 private:
  // Slot i with label c is a child of base i ^ c. An unused slot gets a label for a base that no node
  // has.
  void seal() {
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      unsigned spare = root_label;  // never used as a base in block 0
      for (unsigned low = 0; b != 0 && low < block_size; ++low) {
        if (test(blocks_[b].base_free, low)) spare = low;
      }
      for (unsigned i = 0; i < block_size; ++i) {
        if (test(blocks_[b].free, i)) nodes_[b * block_size + i].link = i ^ spare;
      }
    }
  }

  void add_block() {
    nodes_.resize(nodes_.size() + block_size);
    blocks_.emplace_back();
    open_.push_back(blocks_.size() - 1);
  }

  bool fits(const Block& block, unsigned low,
            std::span<const std::pair<unsigned char, std::size_t>> children) {
    if (!test(block.base_free, low)) return false;
    return std::ranges::all_of(children,
                               [&](const auto& child) { return test(block.free, low ^ child.first); });
  }

  std::uint32_t take(std::size_t index, unsigned low,
                     std::span<const std::pair<unsigned char, std::size_t>> children) {
    Block& block = blocks_[index];
    clear(block.base_free, low);
    for (const auto& child : children) clear(block.free, low ^ child.first);
    return static_cast<std::uint32_t>(index * block_size + low);
  }

  std::uint32_t place(std::span<const std::pair<unsigned char, std::size_t>> children) {
    const unsigned first = children.front().first;
    for (std::size_t o = 0; o < open_.size(); ++o) {
      const std::size_t index = open_[o];
      Block& block = blocks_[index];
      for (unsigned word = 0; word < 4; ++word) {
        for (std::uint64_t bits = block.free[word]; bits != 0; bits &= bits - 1) {
          const unsigned low = (word * 64 + static_cast<unsigned>(std::countr_zero(bits))) ^ first;
          if (fits(block, low, children)) return take(index, low, children);
        }
      }
      if (++block.refusals > patience) {
        open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(o));
        --o;
      }
    }
    add_block();
    return take(blocks_.size() - 1, first, children);
  }

  std::vector<TrieEntry> entries_;
  std::vector<TrieNode> nodes_;
  std::vector<Block> blocks_;
  std::vector<std::size_t> open_;
};

}  // namespace

std::vector<TrieNode> build_trie(std::vector<TrieEntry> entries) {
  std::erase_if(entries, [](const TrieEntry& entry) { return entry.text.empty(); });
  return Builder(std::move(entries)).build();
}

}  // namespace plimsoll::count
