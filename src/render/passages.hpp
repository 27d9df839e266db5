// Sentences that are chosen, as the text that is sent: joined, ordered, labelled, counted.
#pragma once

#include <vector>

#include "plimsoll/passage.hpp"

namespace plimsoll::render {

using Chosen = std::vector<bool>;  // by sentence, of all stretches in a row

// Whether the sentence can share a passage with the one before it in the stretch. A passage is of one
// section, so that its label is true of all its text.
bool continues(const Stretch& stretch, std::size_t sentence);

// The places of the passages in the order in which they go into a prompt.
std::vector<std::size_t> in_order(const std::vector<const SelectedPassage*>& passages, PassageOrder order);

// `names`: tokens that the names of documents and headings may take; what does not fit is left out of a
// label, and its number stays. The passages' own tokens are not counted yet.
Selection write_passages(const Evidence& evidence, const Chosen& chosen, const Tokenizer& tokenizer,
                         const SelectOptions& options, Tokens names);

}  // namespace plimsoll::render
