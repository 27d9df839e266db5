// Compares an answer with the passages in its prompt, where the request asks for it (`plimsoll.check`).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plimsoll/grounding.hpp"
#include "plimsoll/plan.hpp"
#include "render/assemble.hpp"

namespace plimsoll::engine {

struct AnswerCheck {
  std::string answer;
  CheckedAnswer checked;
  std::vector<std::size_t> numbers;  // of the passages that were compared, as in the prompt
};

struct CheckResult {
  std::optional<AnswerCheck> check{};  // none: it was not checked
  std::string warning{};               // how many sentences are not supported, or why it was not checked
};

// Bytes. A longer answer would take a thread for too long, and is not checked.
inline constexpr std::size_t longest_checked_answer = std::size_t{64} << 10;

// `passages`: those that were planned with; the plan's pieces say which of them are in the prompt.
CheckResult check_answer_of(const Plan& plan, std::span<const render::Passage> passages,
                            const std::string& question, std::string answer);

}  // namespace plimsoll::engine
