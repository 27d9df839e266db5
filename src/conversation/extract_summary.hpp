// A summary without a model: the sentences that carry the most of what was said.
//
// Each word counts once, however many sentences have it: taking the sentence that adds the most words for its
// tokens, again and again, covers the conversation and repeats nothing. Names and numbers weigh more, since
// nobody can guess them; what an earlier summary kept weighs more than what is new, since it stands for more.
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
  Tokens tokens = 0;     // that it costs in the summary
  bool by_user = false;  // and not by the model
  bool is_kept = false;  // an earlier summary has it
};

// Indices, rising, of sentences of `limit` tokens at most together. Empty where none fits.
std::vector<std::size_t> best_sentences(std::span<const SaidSentence> sentences, Tokens limit);

}  // namespace plimsoll::conversation
