#include <algorithm>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "budget/apportion.hpp"
#include "plimsoll/budget.hpp"

namespace plimsoll {

std::string_view name_of(SectionKind kind) {
  switch (kind) {
    case SectionKind::format: return "template";
    case SectionKind::system: return "system";
    case SectionKind::tools: return "tools";
    case SectionKind::memory: return "memory";
    case SectionKind::history: return "history";
    case SectionKind::context: return "context";
    case SectionKind::question: return "question";
    case SectionKind::thinking: return "thinking";
    case SectionKind::answer: return "answer";
    case SectionKind::margin: return "margin";
  }
  return "margin";
}

std::string_view name_of(Fate fate) {
  switch (fate) {
    case Fate::kept: return "kept";
    case Fate::no_room: return "no room";
    case Fate::too_old: return "too old";
    case Fate::over_limit: return "over limit";
  }
  return "no room";
}

namespace budget {
namespace {

using base::with_thousands;

Result<void> check(Tokens window, std::span<const Section> sections) {
  if (window < 0 || window > most_tokens)
    return fail(Errc::bad_input, "a window of {} tokens is not from 0 to {}", with_thousands(window),
                with_thousands(most_tokens));
  for (const Section& section : sections) {
    if (section.min < 0 || section.min > section.basis || section.basis > section.max ||
        section.max > most_tokens)
      return fail(Errc::bad_input, "{}: min {}, basis {} and max {} do not rise from 0 to {}",
                  name_of(section.kind), section.min, section.basis, section.max,
                  with_thousands(most_tokens));
    if (section.grow < 0 || section.grow > heaviest || section.shrink < 0 || section.shrink > heaviest)
      return fail(Errc::bad_input, "{}: grow {} and shrink {} are not from 0 to {}", name_of(section.kind),
                  section.grow, section.shrink, with_thousands(heaviest));
  }
  return {};
}

}  // namespace

Tokens least_window(std::span<const Section> sections) {
  Tokens least = 0;
  for (const Section& section : sections) least += least_of(section);
  return least;
}

Result<Shares> negotiate(Tokens window, std::span<const Section> sections) {
  TRY_VOID(check(window, sections));
  const Tokens least = least_window(sections);
  if (least > window)
    return fail(Errc::over_budget, "minimums need {} tokens, the window has {}", with_thousands(least),
                with_thousands(window));
  Tokens wanted = 0;
  for (const Section& section : sections) wanted += section.basis;

  // Not enough room: every section starts at its basis and gives up tokens, down to its minimum. Enough room:
  // every section starts there and gets more, up to its maximum. A tie favours the earlier section in both
  // cases.
  const bool shrinking = wanted > window;
  std::vector<Party> parties;
  for (const Section& section : sections) {
    if (shrinking)
      parties.push_back({section.shrink * section.basis, section.basis - least_of(section)});
    else
      parties.push_back({section.grow, section.grow > 0 ? section.max - section.basis : 0});
  }
  const Tokens difference = shrinking ? wanted - window : window - wanted;
  const std::vector<Tokens> moved = apportion(difference, parties, shrinking ? Tie::later : Tie::earlier);

  Shares shares;
  shares.left = window;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    shares.grants.push_back(shrinking ? sections[i].basis - moved[i] : sections[i].basis + moved[i]);
    shares.left -= shares.grants.back();
  }
  return shares;
}

}  // namespace budget
}  // namespace plimsoll
