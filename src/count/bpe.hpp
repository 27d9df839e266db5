// Byte pair encoding of one pre-token without doing the merges.
//
// A sequence of tokens is what merging gives if, and only if, each two neighbours are what merging
// gives for their joined text (README.md beside this file). So we take the longest token that fits,
// check it against the one before it, and go back where nothing fits: linear in practice whatever
// the text, where merging with a heap is n log n with large constants.
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
  // Reused from call to call, by one thread at a time.
  struct Scratch {
    std::vector<std::uint32_t> tokens;
    std::vector<std::uint64_t> open;                     // positions that may still be a token's end
    std::vector<std::uint32_t> symbols, next, previous;  // of merge_by_heap
    std::unordered_map<std::uint64_t, bool> apart;       // what was found out about odd pairs
  };

  Bpe() = default;
  explicit Bpe(const Compiled& compiled);

  // Tokens of a piece; afterwards their internal numbers are in scratch.tokens, with what the
  // vocabulary lacks as `literal + byte` or `unknown`.
  std::size_t encode(std::string_view piece, Scratch& scratch) const;

  // counts[i]: tokens of the first i bytes of the piece, for i up to its size; where a character is
  // cut, what its bytes would cost. For a vocabulary that is not regular each prefix is encoded.
  void prefix_counts(std::string_view piece, Scratch& scratch, std::vector<std::uint32_t>& counts) const;

  // The token of exactly this piece, or no_token.
  std::uint32_t whole(std::string_view piece) const {
    const std::uint32_t found = trie_.find(piece);
    return found == no_token ? no_token : found & ~whole_only;
  }

  // Whether merging the joined text of these two gives these two back.
  bool stay_apart(std::uint32_t left, std::uint32_t right, Scratch& scratch) const;

  static constexpr std::uint32_t literal = 0x40000000;
  static constexpr std::uint32_t unknown = 0x40000100;

  // The longest token at the front of a text, the next shorter one that is a prefix of it, its bytes.
  std::uint32_t longest(std::string_view text) const;
  std::uint32_t shorter(std::uint32_t token) const { return rows_[token].prefix; }
  std::size_t length(std::uint32_t token) const { return rows_[token].length; }
  // Appends what stands for the character at the front, which the vocabulary lacks; gives its bytes.
  std::size_t say_unknown(std::string_view rest, Scratch& scratch) const;
  bool regular() const { return regular_; }

 private:
  // Encodes from the front until the end or a character the vocabulary lacks; gives the bytes taken.
  std::size_t backtrack(std::string_view text, Scratch& scratch) const;
  bool stay_apart_by_merging(std::uint32_t left, std::uint32_t right, Scratch& scratch) const;
  // Appends what merging makes of the text to `out`; stops as backtrack does.
  std::size_t merge_by_heap(std::string_view text, Scratch& scratch, std::vector<std::uint32_t>& out) const;

  const Compiled* compiled_ = nullptr;
  Trie trie_;
  PairTable pairs_;
  const TokenRow* rows_ = nullptr;
  bool regular_ = true;
  bool chars_ = false;
};

}  // namespace plimsoll::count
