// Finds the ends of sentences in UTF-8 bytes, in one pass, for any language: full stops, question and
// exclamation marks, those of Chinese and Japanese, and abbreviations.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "plimsoll/document.hpp"

namespace plimsoll::ingest {

// Adds the sentences of the span, without surrounding white space. `wrapped`: a single line end counts as a
// blank; otherwise every line end ends a sentence.
void add_sentences(std::string_view text, Span span, bool wrapped, std::vector<Span>& into);

// Adds lines of code in groups of one to eight, divided at blank lines; groups have at most a few
// hundred bytes if the lines allow it.
void add_code_lines(std::string_view text, Span span, std::vector<Span>& into);

// Returns the best cut before byte `limit` of a sentence that is too long: after punctuation, after a
// blank, or at the limit. Never in the first half; always at a character boundary.
std::size_t clause_end(std::string_view sentence, std::size_t limit);

// Counts code points, up to at least `most`.
std::size_t characters(std::string_view text, std::size_t most);

}  // namespace plimsoll::ingest
