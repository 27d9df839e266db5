// The turns of a request that a summary may stand for, what they are known by, and the request without them.
#pragma once

#include <string>
#include <vector>

#include "conversation/summaries.hpp"
#include "conversation/turns_to_compress.hpp"
#include "engine/request_state.hpp"

namespace plimsoll::engine {

struct History {
  std::vector<conversation::TurnSize> turns;  // as the request has them
  std::vector<Tokens> messages;               // by message of the body
  Tokens tokens = 0;                          // of all turns, and of a summary that stands before them
  Tokens room = 0;                            // that they may take
};

// By the last plan.
History history_of(const Engine& engine, const RequestState& state);

// Turns that a summary may stand for, oldest first, and what each row of them from the first is known by.
struct Rows {
  std::vector<std::size_t> turns;
  conversation::TurnRows names;
  std::vector<base::Sha256> states;  // of the hashes
  std::vector<std::string> last;     // hashes of the turns alone, with those of turns that are gone before
};

// `with_ends`: also by what they end with.
Rows rows_of(const RequestParts& parts, const History& history, bool with_ends);

struct Replacement {
  KeptSummary kept;
  std::string text;  // as it goes into the prompt
  bool known = false;
};

// Takes the first `count` turns of the rows out of the request, and puts the summary in their place. Messages
// keep the names that they have in the request as it was given.
void replace_turns(RequestParts& parts, const History& history, const Rows& rows, std::size_t count,
                   const Replacement& by);

}  // namespace plimsoll::engine
