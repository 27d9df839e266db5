#include "engine/evidence/grounded.hpp"

#include "base/text/text.hpp"

namespace plimsoll::engine {

CheckResult check_answer_of(const Plan& plan, std::span<const render::Passage> passages,
                            const std::string& question, std::string answer) {
  // Bytes: other requests of the thread wait meanwhile.
  constexpr std::size_t longest = std::size_t{64} << 10;
  CheckResult result;
  if (answer.size() > longest) {
    result.warning =
        fmt::format("the answer was not checked: it is longer than {}", base::human_bytes(longest));
    return result;
  }
  AnswerCheck check;
  std::vector<GivenPassage> given;
  std::size_t place = 0;
  for (const PlannedPiece& piece : plan.pieces) {
    if (piece.section != SectionKind::context || place == passages.size()) continue;
    const render::Passage& passage = passages[place++];
    if (piece.fate != Fate::kept) continue;
    given.push_back({passage.text, passage.id});
    check.numbers.push_back(place);
  }
  if (given.empty()) {
    result.warning = "the answer was not checked: there are no passages in the prompt";
    return result;
  }
  check.checked = check_answer(answer, given, {.question = question});
  if (check.checked.unsupported > 0)
    result.warning =
        fmt::format("{} of {} sentences of the answer are not supported by the passages",
                    check.checked.unsupported, check.checked.unsupported + check.checked.supported);
  check.answer = std::move(answer);
  result.check = std::move(check);
  return result;
}

}  // namespace plimsoll::engine
