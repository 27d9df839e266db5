// Finds the ends of sentences in UTF-8 bytes, in one pass, for any language: full stops, question and
// exclamation marks, those of Chinese and Japanese, and abbreviations.
#pragma once

#include <string_view>
#include <vector>

#include "plimsoll/document.hpp"

namespace plimsoll::base {

// Adds the sentences of the span, without surrounding white space. `wrapped`: a single line end counts as a
// blank; otherwise every line end ends a sentence.
void add_sentences(std::string_view text, Span span, bool wrapped, std::vector<Span>& into);

}  // namespace plimsoll::base
