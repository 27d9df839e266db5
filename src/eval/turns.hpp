// How many of the turns that answer a question about a long conversation are found within a budget of tokens.
//
// The data set is LongMemEval's: a JSON list of questions, each with its date, the sessions that belong to it
// and, in these, the turns that have the answer. All sessions of all questions are pooled into one
// conversation, in the order of their dates, and each question is asked of all of it.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conversation/recalled_turns.hpp"
#include "conversation/turn_index.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::eval {

struct PooledTurn {
  std::string text;
  bool by_user = false;
  std::int64_t at_ms = 0;     // UTC, of its session
  std::uint32_t session = 0;  // number of the session
  std::size_t number = 0;     // of its question in the whole conversation, from 1
};

struct TurnsQuestion {
  std::string text;
  std::string kind;  // "multi-session"
  std::int64_t at_ms = 0;
  std::vector<std::size_t> evidence;  // indices of pooled turns, not empty
};

struct TurnsData {
  std::vector<PooledTurn> turns;
  std::vector<TurnsQuestion> questions;  // those that have evidence
  std::size_t sessions = 0;
};

// bad_input names the question. A session that occurs twice is taken with the date of its first occurrence.
Result<TurnsData> read_turns_data(std::string_view json);

conversation::TurnIndex index_of(const TurnsData& data);

// What a question gets within a budget.
using FindTurns = std::function<Result<std::vector<conversation::RecalledPart>>(
    const TurnsQuestion& question, std::size_t place, Tokens budget)>;

struct TurnsScore {
  Tokens budget = 0;
  double all_evidence = 0;  // share of questions with all of their turns
  double recall = 0;        // share of all turns
  double tokens_used = 0;   // on average, labels included
  struct Kind {
    std::string name;
    std::size_t questions = 0;
    double all_evidence = 0;
  };
  std::vector<Kind> kinds;  // in the order of their first question
};

struct TurnsReport {
  std::size_t questions = 0, turns = 0, sessions = 0;
  std::vector<TurnsScore> budgets;
  double ms_per_question = 0;
};

// A turn counts if at least half of its tokens, or 80 of them, are in what was found; labels do not count.
// `places`: the questions to ask.
Result<TurnsReport> evaluate_turns(const TurnsData& data, std::span<const std::size_t> places,
                                   std::span<const Tokens> budgets,
                                   const std::function<Tokens(std::string_view)>& count,
                                   const FindTurns& find);

}  // namespace plimsoll::eval
