// What a question leaves unsaid because the conversation has said it: "Give me an example" is about whatever
// was asked before.
#pragma once

#include <string>

#include "engine/plan/parts.hpp"

namespace plimsoll::engine {

struct FollowUp {
  std::string
      context;       // earlier questions, and the names in the last answer; empty: the question is complete
  float weight = 0;  // of a word of it, beside a word of the question
};

// From the turns before the question, and what a model made of it. A question that names its own subject
// needs none.
FollowUp earlier_words(const RequestParts& parts);

// ---- For tests ----

// How much a question depends on what came before it: 0 for one that names its subject, 1 for one that names
// nothing.
float dependence_of(std::string_view question);
// Names and terms that a text is about: quoted code, identifiers, capitalised words inside a sentence.
std::vector<std::string> names_in(std::string_view text, std::size_t most);

}  // namespace plimsoll::engine
