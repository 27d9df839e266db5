// The compiled tokenizer: one memory-mapped file. Everything in it is an array at an
// aligned offset. Opening reads it once for its checksum, a few milliseconds: a damaged page would give wrong
// counts that are marked as exact.
//
// Tokens have internal numbers, in the order in which merging would create them: a token is always
// later than its two halves, and results of earlier merges come first. `ids` maps them to the
// model's ids.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "count/vocabulary/definition.hpp"
#include "count/vocabulary/double_array.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::count {

inline constexpr std::uint32_t no_token = 0xffffffff;
// In the trie: a token only if it is the whole piece, because merging never creates it.
inline constexpr std::uint32_t whole_only = 0x80000000;

// A token is odd if merging creates it later than its number says, because one of its halves is created
// even later. The parts at the border of two tokens are their spines: the right halves of the left one,
// the left halves of the right one. Numbers give the order only if no odd token is among them.
namespace odd_spine {
inline constexpr std::uint8_t left = 1, right = 2;
}

// Data of a token for encoding, in one cache line.
struct TokenRow {
  std::uint32_t left, right;  // the merged halves; itself if it has none
  std::uint32_t prefix;       // the longest token that is a proper prefix of it, or no_token
  std::uint16_t length;       // bytes
  std::uint8_t odd;           // odd_spine bits
  std::uint8_t unused = 0;
};

struct CompiledAdded {
  TokenId id;
  std::uint8_t special, strips_left, strips_right, whole_word, normalized, unused[3];
};

struct CompiledConfig {
  ModelKind kind;
  Splitter splitter;
  Normalizer normalizer;
  bool whole_piece_first;
  bool regular;  // backtracking was verified against plain merging
  bool fuse_unknown;
  std::uint32_t longest_token;  // bytes
  std::uint32_t longest_added;  // bytes
  std::uint32_t longest_word;   // wordpiece
  std::int64_t unknown;
  std::int64_t byte_tokens[256];
};

struct Compiled {
  CompiledConfig config{};
  std::string_view info;                       // TokenizerInfo as JSON
  std::string_view split_steps;                // JSON
  std::string_view bytes;                      // of all tokens, one after the other
  std::span<const std::uint32_t> offsets;      // start of each token's bytes; number of tokens plus one
  std::span<const TokenId> ids;                // internal number to the model's id
  std::span<const std::uint32_t> numbers;      // the model's id to internal number, or no_token
  std::span<const TrieNode> trie;              // bytes to internal number
  std::span<const std::uint64_t> pairs;        // see PairTable
  std::span<const std::uint64_t> pair_filter;  // see PairTable
  std::span<const TokenRow> rows;              // BPE: data of each token for encoding
  std::span<const std::uint64_t> seams;
  std::span<const double> scores;
  std::span<const TrieNode> added_trie;  // texts to indexes of `added`
  std::span<const CompiledAdded> added;
  std::span<const std::uint32_t> added_offsets;
  std::string_view added_bytes;

  std::string_view token(std::uint32_t number) const {
    return bytes.substr(offsets[number], offsets[number + 1] - offsets[number]);
  }
  std::uint32_t length(std::uint32_t number) const { return offsets[number + 1] - offsets[number]; }
  std::string_view added_text(std::size_t i) const {
    return added_bytes.substr(added_offsets[i], added_offsets[i + 1] - added_offsets[i]);
  }
};

// Returns views into a compiled file; the bytes must outlive them. damaged: any byte is wrong.
Result<Compiled> view_compiled(std::string_view file);

// Returns the file for these arrays.
std::string write_compiled(const Compiled& compiled);

// Maps (left, right) to the merged token: an open-addressed table of 64-bit slots, each
// 21 bits left, 21 bits right, 21 bits result. Most looked-up pairs do not merge: a filter with a few bits
// per pair, small enough for the L2 cache, rejects them without reading the table.
class PairTable {
 public:
  static constexpr unsigned number_bits = 21;
  static constexpr std::uint64_t empty = ~std::uint64_t{0};

  struct Entry {
    std::uint32_t left, right, result;
  };
  struct Built {
    std::vector<std::uint64_t> slots, filter;
  };
  static Built build(std::span<const Entry> entries);

  PairTable() = default;
  PairTable(std::span<const std::uint64_t> slots, std::span<const std::uint64_t> filter)
      : slots_(slots.data()),
        mask_(slots.size() - 1),
        filter_(filter.data()),
        filter_mask_(filter.size() * 64 - 1) {}

  static std::uint64_t key(std::uint32_t left, std::uint32_t right) {
    return static_cast<std::uint64_t>(left) << number_bits | right;
  }

  std::uint32_t find(std::uint32_t left, std::uint32_t right) const {
    const std::uint64_t wanted = key(left, right);
    const std::uint64_t mixed = hash(wanted);
    const std::size_t bit = filter_place(mixed) & filter_mask_;
    if (((filter_[bit >> 6] >> (bit & 63)) & 1) == 0) return no_token;
    for (std::size_t i = slot_place(mixed) & mask_;; i = (i + 1) & mask_) {
      const std::uint64_t slot = slots_[i];
      if (slot >> number_bits == wanted) return static_cast<std::uint32_t>(slot & ((1U << number_bits) - 1));
      if (slot == empty) return no_token;
    }
  }

 private:
  static std::uint64_t hash(std::uint64_t key) { return key * 0x9E3779B97F4A7C15ULL; }
  static std::size_t slot_place(std::uint64_t mixed) { return static_cast<std::size_t>(mixed >> 24); }
  static std::size_t filter_place(std::uint64_t mixed) { return static_cast<std::size_t>(mixed >> 40); }

  const std::uint64_t* slots_ = nullptr;
  std::size_t mask_ = 0;
  const std::uint64_t* filter_ = nullptr;
  std::size_t filter_mask_ = 0;
};

}  // namespace plimsoll::count
