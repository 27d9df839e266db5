// The most probable way to cut a text into tokens, by Viterbi over the trie, as SentencePiece's
// unigram model has it.
#pragma once

#include <string_view>
#include <vector>

#include "count/vocabulary/compiled.hpp"
#include "count/vocabulary/double_array.hpp"

namespace plimsoll::count {

class Unigram {
 public:
  struct Step {
    double score = 0;                // of the best way to here
    std::size_t begin = 0;           // where its last token begins
    std::uint32_t token = no_token;  // internal number, or no_token for an unknown character
    std::uint32_t count = 0;         // tokens so far
    bool reached = false;
  };
  struct Scratch {
    std::vector<Step> steps;
  };

  Unigram() = default;
  explicit Unigram(const Compiled& compiled);

  // Fills scratch.steps for every prefix that ends at a character; gives the tokens of the whole.
  std::size_t solve(std::string_view piece, Scratch& scratch) const;

  // Whether an unknown character is said by its bytes, because the vocabulary has them all.
  bool goes_by_bytes(std::string_view character) const;

 private:
  const Compiled* compiled_ = nullptr;
  Trie trie_;
  double unknown_score_ = 0;
};

}  // namespace plimsoll::count
