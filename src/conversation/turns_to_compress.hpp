// Which turns of a conversation go into a summary when it has become too long for the window (F5).
//
// Oldest first, and many at once: after a step there is room for as many turns again, so that the beginning
// of what is sent, and with it a server's prefix cache, stays the same for a good while.
// Pure: no clock, no I/O. Safe on any thread.
#pragma once

#include <cstddef>
#include <span>

#include "plimsoll/tokens.hpp"

namespace plimsoll::conversation {

struct TurnSize {
  Tokens tokens = 0;
  bool whole = false;  // never part of a summary: calls of tools with their results, images
};

struct CompressionRule {
  std::int64_t fill_pct = 50;  // of history's room that is in use after a step
  std::size_t last_turns = 2;  // that always stay as they are
};

// What history may take, with what stands for its older turns: up to `threshold`, where compression begins,
// beside all else that is wanted (`others`). Never less than a quarter of the window: where an answer asks
// for most of it, the answer gives way first.
Tokens history_room(Tokens window, Tokens threshold, Tokens others);

// What a summary may take of such a room.
Tokens summary_limit(Tokens room);

// Turns before the one returned, but for those that stay whole, become a summary of up to `summary` tokens;
// 0: none does. Such that what stays and the summary take `fill_pct` of the room together where that can be
// had, and otherwise as little as can be. The turn before it is one that goes.
std::size_t compress_before(std::span<const TurnSize> turns, Tokens room, Tokens summary,
                            const CompressionRule& rule = {});

}  // namespace plimsoll::conversation
