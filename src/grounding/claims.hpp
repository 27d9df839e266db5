// What a sentence says, in a form that can be compared: words, names, numbers and what it denies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "grounding/numbers.hpp"
#include "plimsoll/document.hpp"

namespace plimsoll::grounding {

struct ClaimWord {
  std::string stem;
  Span span;               // of the sentence
  bool is_stop = false;    // "the", "according"
  bool is_name = false;    // a capitalised word inside a sentence, or an identifier
  bool is_denied = false;  // "not released": `released`
};

struct Claims {
  std::vector<ClaimWord> words;  // in order; digits that are numbers are left out
  std::vector<Number> numbers;   // without citations
  bool has_pronoun = false;      // "he", "it": the subject is in an earlier sentence

  bool is_empty() const;  // nothing but stop words
};

Claims read_claims(std::string_view sentence);

// Divides a text into sentences. Line ends inside a paragraph are blanks; list items, table rows, headings
// and blank lines end a sentence.
std::vector<Span> sentences_in(std::string_view text);

// Moves citations such as "[1]" from the start of a sentence to the end of the one before.
void join_citations(std::string_view text, std::vector<Span>& sentences);

// Returns the start of the citations at the end of the sentence, "[1]" or "[2, 3]", with the blanks before
// them; the end of the sentence if there are none.
std::size_t citations_start(std::string_view sentence);

// Returns why a sentence needs no support: "a heading", "a question"; empty: it needs some.
std::string_view why_no_claim(std::string_view sentence, const Claims& claims);

}  // namespace plimsoll::grounding
