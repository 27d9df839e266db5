// Prints search results for people and for programs.
#pragma once

#include <string>

#include "plimsoll/passage.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {

struct SearchReport {
  Selection selection;
  Tokens budget = 0;
  std::size_t candidates = 0;  // chunks that were considered
  double ms = 0;
  std::string tokenizer;
  std::vector<std::string> notes;
};

std::string passages_text(const SearchReport& report, const Terminal& terminal);
// {passages: [{document, start, end, text, tokens, score, reason, ...}], tokens, budget, candidates, ms, ...}
std::string passages_json(const SearchReport& report);

}  // namespace plimsoll
