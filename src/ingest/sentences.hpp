// Where sentences end. Works on bytes of UTF-8, in one pass, and knows no language: full stops, question and
// exclamation marks, those of Chinese and Japanese, and which full stops are none.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "plimsoll/document.hpp"

namespace plimsoll::ingest {

// Adds the sentences of the span, without white space around them. `wrapped`: a single line end is a blank;
// otherwise every line end ends a sentence.
void add_sentences(std::string_view text, Span span, bool wrapped, std::vector<Span>& into);

// Adds the lines of code in groups of one to eight, cut at blank lines; groups are not longer than a few
// hundred bytes where lines allow it.
void add_code_lines(std::string_view text, Span span, std::vector<Span>& into);

// The best place to cut before byte `limit` of a sentence that is too long: behind punctuation, behind a
// blank, or at the limit itself. Never in the first half; always at a character.
std::size_t clause_end(std::string_view sentence, std::size_t limit);

// Code points, of the first `most` at least.
std::size_t characters(std::string_view text, std::size_t most);

}  // namespace plimsoll::ingest
