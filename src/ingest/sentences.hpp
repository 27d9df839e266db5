// Divides text into the units that are selected: sentences, groups of lines of code, parts of long sentences.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/text/sentences.hpp"
#include "plimsoll/document.hpp"

namespace plimsoll::ingest {

using base::add_sentences;

// Adds lines of code in groups of one to eight, divided at blank lines; groups have at most a few
// hundred bytes if the lines allow it.
void add_code_lines(std::string_view text, Span span, std::vector<Span>& into);

// Returns the best cut before byte `limit` of a sentence that is too long: after punctuation, after a
// blank, or at the limit. Never in the first half; always at a character boundary.
std::size_t clause_end(std::string_view sentence, std::size_t limit);

// Counts code points, up to at least `most`.
std::size_t characters(std::string_view text, std::size_t most);

}  // namespace plimsoll::ingest
