#include "conversation/turns_to_compress.hpp"

#include <algorithm>

namespace plimsoll::conversation {

Tokens history_room(Tokens window, Tokens threshold, Tokens others) {
  return std::max(threshold - others, window / 4);
}

Tokens summary_limit(Tokens room) {
  constexpr Tokens least = 48, most = 1'024;  // fewer are useless; more take a model too long
  return std::clamp(room / 4, least, most);
}

std::size_t compress_before(std::span<const TurnSize> turns, Tokens room, Tokens summary,
                            const CompressionRule& rule) {
  Tokens stays = summary;
  for (const TurnSize& turn : turns) stays += turn.tokens;
  const Tokens goal = room * rule.fill_pct / 100;
  const std::size_t last = turns.size() - std::min(turns.size(), rule.last_turns);
  std::size_t before = 0;
  for (std::size_t i = 0; i < last && stays > goal; ++i) {
    if (turns[i].whole) continue;
    stays -= turns[i].tokens;
    before = i + 1;
  }
  return before;
}

}  // namespace plimsoll::conversation
