// Splits a question of several parts, so that each part is searched and gets its share of the budget.
//
//   parts_of("What is a halyard, and how is it made fast?");  // "What is a halyard", "how is it made fast?"
//
// By form alone, without a model. When in doubt the question stays whole.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::retrieve {

struct QuestionPart {
  std::string text;
  float dependence = 0;  // how much it needs the other parts: "how is it made fast?" names no subject
};

// Returns the parts, at most `most_parts`; a question that has only one is returned as it is.
inline constexpr std::size_t most_parts = 6;
std::vector<QuestionPart> parts_of(std::string_view question);

// Returns how much a question depends on what was said before: 0 if it names its subject, 1 if it names
// nothing.
float dependence_of(std::string_view question);

// Returns whether a word, folded, can say what a question is about: not "it", "example" or "more".
bool names_subject(std::string_view word);

}  // namespace plimsoll::retrieve
