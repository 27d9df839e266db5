// Compares an answer with the passages in its prompt, where the request asks for it (`plimsoll.check`).
#pragma once

#include <string>
#include <vector>

#include "plimsoll/grounding.hpp"

namespace plimsoll::engine {

struct RequestState;

struct AnswerCheck {
  std::string answer;
  CheckedAnswer checked;
  std::vector<std::size_t> numbers;  // of the passages that were compared, as in the prompt
};

// Keeps the result for the report. A warning in the trace tells how many sentences are not supported, or why
// the answer was not checked.
void check_answer_of(RequestState& state, std::string answer);

}  // namespace plimsoll::engine
