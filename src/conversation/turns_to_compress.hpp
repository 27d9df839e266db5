// Chooses the turns of a conversation for a summary when it is too long for the window (F5).
//
// Oldest first, and many at once: after a step there is room for as many new turns, so the start of the
// prompt, and with it a server's prefix cache, stays the same for many requests.
// Pure: no clock, no I/O. Safe on any thread.
#pragma once

#include <cstddef>
#include <span>

#include "plimsoll/tokens.hpp"

namespace plimsoll::conversation {

struct TurnSize {
  Tokens tokens = 0;
  bool whole = false;  // never part of a summary: tool calls with their results, images
};

struct CompressionRule {
  std::int64_t fill_pct = 50;  // share of history's room in use after a step
  std::size_t last_turns = 2;  // always kept unchanged
};

// Returns the room for history including its summary: up to `threshold`, where compression starts, minus
// everything else (`others`). At least a quarter of the window: if an answer asks for most of it, the
// answer is shortened first.
Tokens history_room(Tokens window, Tokens threshold, Tokens others);

// Returns the most tokens of a summary in such a room.
Tokens summary_limit(Tokens room);

// Turns before the returned one, except those that stay whole, become a summary of up to `summary` tokens;
// 0: none. The remaining turns and the summary then use `fill_pct` of the room if possible, otherwise as
// little as possible. The turn before the returned one is always replaced.
std::size_t compress_before(std::span<const TurnSize> turns, Tokens room, Tokens summary,
                            const CompressionRule& rule = {});

}  // namespace plimsoll::conversation
