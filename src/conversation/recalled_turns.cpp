#include "conversation/recalled_turns.hpp"

#include <algorithm>

namespace plimsoll::conversation {
namespace {

constexpr Tokens long_turn = 120;      // longer turns are cut; labels not counted, here and below
constexpr Tokens enough_of_turn = 90;  // to about this, in whole sentences
constexpr std::size_t most_bytes_of_token = 16;
constexpr Tokens least_useful = 12;
constexpr std::size_t most_tried = 400;

// Grows from the sentence at `focus`, forwards first: what follows belongs to it more often.
Span part_of(std::string_view text, std::uint64_t focus, Tokens enough,
             const std::function<Tokens(std::string_view)>& count) {
  const std::vector<Span> sentences = turn_sentences(text);
  if (sentences.empty()) return {0, text.size()};
  std::size_t first = 0;
  while (first + 1 < sentences.size() && sentences[first + 1].start <= focus) ++first;
  std::size_t last = first;
  const auto part = [&](std::size_t from, std::size_t to) {
    return Span{sentences[from].start, sentences[to].end};
  };
  const auto tokens = [&](const Span& span) { return count(text.substr(span.start, span.size())); };
  Tokens now = tokens(part(first, last));
  while (now < enough && (last + 1 < sentences.size() || first > 0)) {
    const bool forwards = last + 1 < sentences.size() && (first == 0 || last - first < 6);
    (forwards ? ++last : --first);
    now = tokens(part(first, last));
  }
  return part(first, last);
}

}  // namespace

std::vector<RecalledPart> choose_turns(const TurnIndex& index, std::span<const RankedTurn> ranked,
                                       Tokens budget, const CountPart& count, bool whole) {
  std::vector<RecalledPart> chosen;
  Tokens left = budget;
  std::size_t tried = 0;
  for (const RankedTurn& one : ranked) {
    if (left < least_useful || ++tried > most_tried) break;
    const std::string_view text = index.turn(one.turn).text;
    const auto counted = [&](std::string_view part) { return count(one.turn, part); };
    const Tokens label = counted(text.substr(0, 0));
    RecalledPart part{one.turn, {0, text.size()}, 0, true};
    const bool is_huge = !whole && text.size() > static_cast<std::size_t>(long_turn) * most_bytes_of_token;
    if (!is_huge) part.tokens = counted(text);
    if (!whole && (is_huge || part.tokens > long_turn + label)) {
      part.part = part_of(text, one.focus, enough_of_turn + label, counted);
      part.tokens = counted(text.substr(part.part.start, part.part.size()));
      part.is_whole = part.part == Span{0, text.size()};
    }
    if (part.tokens > left) continue;
    left -= part.tokens;
    chosen.push_back(part);
  }
  std::ranges::sort(chosen, {}, &RecalledPart::turn);
  return chosen;
}

}  // namespace plimsoll::conversation
