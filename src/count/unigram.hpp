// Finds the most probable tokens of a text with Viterbi over the trie, like SentencePiece's
// unigram model.
#pragma once

#include <string_view>
#include <vector>

#include "count/vocabulary/compiled.hpp"
#include "count/vocabulary/double_array.hpp"

namespace plimsoll::count {

class Unigram {
 public:
  struct Step {
    double score = 0;                // of the best path to here
    std::size_t begin = 0;           // start of its last token
    std::uint32_t token = no_token;  // internal number, or no_token for an unknown character
    std::uint32_t count = 0;         // tokens so far
    bool reached = false;
  };
  struct Scratch {
    std::vector<Step> steps;
  };

  Unigram() = default;
  explicit Unigram(const Compiled& compiled);

  // Fills scratch.steps for every prefix that ends at a character boundary; returns the number of tokens.
  std::size_t solve(std::string_view piece, Scratch& scratch) const;

  // Returns whether an unknown character is encoded as bytes, because the vocabulary has all of them.
  bool goes_by_bytes(std::string_view character) const;

 private:
  const Compiled* compiled_ = nullptr;
  Trie trie_;
  double unknown_score_ = 0;
};

}  // namespace plimsoll::count
