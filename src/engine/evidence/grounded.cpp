#include "engine/evidence/grounded.hpp"

#include "base/text/text.hpp"
#include "engine/request_state.hpp"

namespace plimsoll::engine {

void check_answer_of(RequestState& state, std::string answer) {
  constexpr std::size_t longest = std::size_t{64}
                                  << 10;  // bytes; other requests of the thread wait meanwhile
  std::vector<std::string>& warnings = state.trace.warnings;
  if (answer.size() > longest) {
    warnings.push_back(
        fmt::format("the answer was not checked: it is longer than {}", base::human_bytes(longest)));
    return;
  }
  AnswerCheck check;
  std::vector<GivenPassage> passages;
  std::size_t place = 0;
  for (const PlannedPiece& piece : state.plan.pieces) {
    if (piece.section != SectionKind::context || place == state.parts.passages.size()) continue;
    const render::Passage& passage = state.parts.passages[place++];
    if (piece.fate != Fate::kept) continue;
    passages.push_back({passage.text, passage.id});
    check.numbers.push_back(place);
  }
  if (passages.empty()) {
    warnings.emplace_back("the answer was not checked: there are no passages in the prompt");
    return;
  }
  check.checked = check_answer(answer, passages, {.question = state.parts.query});
  if (check.checked.unsupported > 0)
    warnings.push_back(fmt::format("{} of {} sentences of the answer are not supported by the passages",
                                   check.checked.unsupported,
                                   check.checked.unsupported + check.checked.supported));
  check.answer = std::move(answer);
  state.check = std::move(check);
}

}  // namespace plimsoll::engine
