// The turns of a request that a summary may replace, their hashes, and the request without them.
#pragma once

#include <string>
#include <vector>

#include "conversation/summaries.hpp"
#include "conversation/turns_to_compress.hpp"
#include "engine/stages.hpp"

namespace plimsoll::engine {

struct History {
  std::vector<conversation::TurnSize> turns;  // in the order of the request
  std::vector<Tokens> messages;               // per message of the body
  Tokens tokens = 0;                          // of all turns and of a summary before them
  Tokens room = 0;                            // room for them
};

// Measures the history by a plan.
History history_of(const Engine& engine, const chat::ChatRequest& parts, const Plan& plan);

// Turns that a summary may replace, oldest first, and the hash of each prefix of them.
struct Rows {
  std::vector<std::size_t> turns;
  conversation::TurnRows names;
  std::vector<base::Sha256> states;  // of the hashes
  std::vector<std::string> last;     // hashes of single turns, including turns already replaced
};

// `with_ends`: also the hashes of single turns.
Rows rows_of(const chat::ChatRequest& parts, const History& history, bool with_ends);

struct Replacement {
  KeptSummary kept;
  std::string text;  // as sent in the prompt
  bool known = false;
};

// Replaces the first `count` turns of the rows with the summary. Messages keep the ids that they have
// in the original request.
void replace_turns(chat::ChatRequest& parts, const History& history, const Rows& rows, std::size_t count,
                   const Replacement& by);

}  // namespace plimsoll::engine
