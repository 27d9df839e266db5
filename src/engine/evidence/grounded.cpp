#include "engine/evidence/grounded.hpp"

#include "base/text/text.hpp"
#include "engine/stages.hpp"

namespace plimsoll::engine {

CheckResult check_answer_of(const Plan& plan, std::span<const render::Passage> passages,
                            const std::string& question, std::string answer) {
  CheckResult result;
  if (answer.size() > longest_checked_answer) {
    result.warning = fmt::format("the answer was not checked: it is longer than {}",
                                 base::human_bytes(longest_checked_answer));
    return result;
  }
  AnswerCheck check;
  std::vector<GivenPassage> given;
  for (const std::size_t place : passages_in_plan(plan, passages.size())) {
    given.push_back({passages[place].text, passages[place].id});
    check.numbers.push_back(place + 1);
  }
  if (given.empty()) {
    result.warning = "the answer was not checked: there are no passages in the prompt";
    return result;
  }
  check.checked = check_answer(answer, given, {.question = question});
  if (check.checked.unsupported > 0)
    result.warning =
        fmt::format("sentences of the answer that the passages do not support: {} of {}",
                    check.checked.unsupported, check.checked.unsupported + check.checked.supported);
  check.answer = std::move(answer);
  result.check = std::move(check);
  return result;
}

}  // namespace plimsoll::engine
