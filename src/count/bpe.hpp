// Byte pair encoding of one pre-token without doing the merges.
//
// A sequence of tokens is the result of merging if and only if each two neighbours are the result of
// merging their joined text (see README.md). So we take the longest token that fits, check it
// against the previous one, and backtrack if nothing fits: linear in practice for any text,
// while merging with a heap is n log n with large constants.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "count/vocabulary/compiled.hpp"
#include "count/vocabulary/double_array.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll::count {

class Bpe {
 public:
  // Reused between calls, by one thread at a time.
  struct Scratch {
    std::vector<std::uint32_t> tokens;
    std::vector<std::uint64_t> open;                     // positions that may still be a token's end
    std::vector<std::uint32_t> symbols, next, previous;  // of merge_by_heap
    std::unordered_map<std::uint64_t, bool> apart;       // cached results for odd pairs
  };

  Bpe() = default;
  explicit Bpe(const Compiled& compiled);

  // Encodes a piece and returns the number of tokens. Their internal numbers are in scratch.tokens; bytes
  // that are not in the vocabulary are `literal + byte` or `unknown`.
  std::size_t encode(std::string_view piece, Scratch& scratch) const;

  // Sets counts[i] to the tokens of the first i bytes, for i up to the size; inside a character, to the cost
  // of its bytes. For a vocabulary that is not regular each prefix is encoded.
  void prefix_counts(std::string_view piece, Scratch& scratch, std::vector<std::uint32_t>& counts) const;

  // Returns the token of exactly this piece, or no_token.
  std::uint32_t whole(std::string_view piece) const {
    const std::uint32_t found = trie_.find(piece);
    return found == no_token ? no_token : found & ~whole_only;
  }

  // Returns whether merging the joined text of these two gives the same two tokens.
  bool stay_apart(std::uint32_t left, std::uint32_t right, Scratch& scratch) const;

  static constexpr std::uint32_t literal = 0x40000000;
  static constexpr std::uint32_t unknown = 0x40000100;

  // The longest token at the start of a text, the next shorter token that is a prefix of it, and its bytes.
  std::uint32_t longest(std::string_view text) const;
  std::uint32_t shorter(std::uint32_t token) const { return rows_[token].prefix; }
  std::size_t length(std::uint32_t token) const { return rows_[token].length; }
  // Appends tokens for an unknown character at the start; returns its size in bytes.
  std::size_t say_unknown(std::string_view rest, Scratch& scratch) const;
  bool regular() const { return regular_; }

 private:
  // Encodes up to the end or an unknown character; returns the encoded bytes.
  std::size_t backtrack(std::string_view text, Scratch& scratch) const;
  bool stay_apart_by_merging(std::uint32_t left, std::uint32_t right, Scratch& scratch) const;
  // Appends the result of merging to `out`; stops like backtrack.
  std::size_t merge_by_heap(std::string_view text, Scratch& scratch, std::vector<std::uint32_t>& out) const;

  const Compiled* compiled_ = nullptr;
  Trie trie_;
  PairTable pairs_;
  const TokenRow* rows_ = nullptr;
  bool regular_ = true;
  bool chars_ = false;
};

}  // namespace plimsoll::count
