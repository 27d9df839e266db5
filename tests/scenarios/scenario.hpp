// Scenario files: a few lines of what is given, four dashes, and what must come out.
// tests/scenarios/README.md lists the words that they may use.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::scenarios {

// One line: a verb, plain words, and key=value. "Quotes" hold spaces together.
struct Line {
  std::string verb;
  std::vector<std::string> words;
  std::map<std::string, std::string, std::less<>> values;
  std::string rest;  // all behind the verb, as written

  const std::string& word(std::size_t index) const;
  std::string text(std::string_view key, std::string_view otherwise = {}) const;
  std::int64_t number(std::string_view key, std::int64_t otherwise = 0) const;
  double real(std::string_view key, double otherwise = 0) const;
  bool has(std::string_view key) const { return values.contains(key); }
};

struct Scenario {
  std::vector<Line> given;
  std::string expected;
};

Scenario read_scenario(const std::string& file_text);
std::vector<std::string> split(std::string_view list, char at);

// What comes out of the given lines. Throws std::runtime_error for a word that no scenario knows.
std::string play(const Scenario& scenario);

// The parts of play, by what the first line begins.
std::string play_negotiation(const std::vector<Line>& given);
std::string play_plan(const std::vector<Line>& given);
std::string play_upstream(const std::vector<Line>& given);
// Verbs that answer a line with a line; nothing for a verb that is none of them.
std::optional<std::string> play_rule(const Line& line);
std::optional<std::string> play_strategy(const Line& line);

}  // namespace plimsoll::scenarios
