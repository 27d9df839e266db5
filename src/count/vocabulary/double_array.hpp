// A trie of byte strings in one array: a step is one load and one compare.
//
// A node is eight bytes. Its child for byte c is at index base ^ c, if the label there is c. No two
// nodes share a base, so the label alone identifies a child. The array is written once
// and used directly in a mapped file.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace plimsoll::count {

struct TrieNode {
  std::uint32_t link = 0;            // base << 8 | label
  std::uint32_t value = 0xffffffff;  // value of the text that ends here, or none
};

class Trie {
 public:
  static constexpr std::uint32_t none = 0xffffffff;
  static constexpr std::uint32_t root = 0;

  Trie() = default;
  explicit Trie(std::span<const TrieNode> nodes) : nodes_(nodes.data()), size_(nodes.size()) {}

  bool empty() const { return size_ == 0; }

  // Returns the child of `node` for byte c, or none.
  std::uint32_t step(std::uint32_t node, unsigned char c) const {
    const std::uint32_t child = (nodes_[node].link >> 8) ^ c;
    return (nodes_[child].link & 0xff) == c ? child : none;
  }
  std::uint32_t value(std::uint32_t node) const { return nodes_[node].value; }

  // Returns the value of exactly this text, or none.
  std::uint32_t find(std::string_view text) const {
    std::uint32_t node = root;
    for (const char c : text) {
      node = step(node, static_cast<unsigned char>(c));
      if (node == none) return none;
    }
    return value(node);
  }

 private:
  const TrieNode* nodes_ = nullptr;
  std::size_t size_ = 0;
};

struct TrieEntry {
  std::string_view text;
  std::uint32_t value;
};

// Entries may be in any order; of duplicates the last one wins. Empty texts are left out.
std::vector<TrieNode> build_trie(std::vector<TrieEntry> entries);

}  // namespace plimsoll::count
