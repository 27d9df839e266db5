// Completes a question from earlier turns: "Give me an example" refers to the previous
// question.
#pragma once

#include <string>

#include "chat/chat_request.hpp"

namespace plimsoll::engine {

struct FollowUp {
  std::string
      context;       // earlier questions, and the names in the last answer; empty: the question is complete
  float weight = 0;  // of its words, relative to words of the question
};

// Takes words from earlier turns and from a model's rewriting of the question. Empty for a question that
// names its own subject.
FollowUp earlier_words(const chat::ChatRequest& parts, std::string_view rewritten = {});

// ---- For tests ----

// Returns names and terms in a text: quoted code, identifiers, capitalised words inside a sentence.
std::vector<std::string> names_in(std::string_view text, std::size_t most);

}  // namespace plimsoll::engine
