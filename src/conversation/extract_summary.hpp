// Makes a summary without a model, from the most informative sentences.
//
// Each word counts once, however many sentences have it. Repeatedly taking the sentence that adds the most
// words per token covers the conversation without repetition. Names and numbers weigh more, as they cannot be
// guessed; sentences of an earlier summary weigh more, as they represent more text.
// Pure, deterministic. O(n log n) in the words of the sentences.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "plimsoll/tokens.hpp"

namespace plimsoll::conversation {

struct SaidSentence {
  std::string_view text;
  Tokens tokens = 0;     // in the summary
  bool by_user = false;  // false: by the model
  bool is_kept = false;  // from an earlier summary
};

// Returns ascending indices of sentences with at most `limit` tokens in total. Empty if none fits.
std::vector<std::size_t> best_sentences(std::span<const SaidSentence> sentences, Tokens limit);

}  // namespace plimsoll::conversation
