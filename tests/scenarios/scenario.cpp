#include "scenario.hpp"

#include <sstream>
#include <stdexcept>

namespace plimsoll::scenarios {
namespace {

Line read_line(const std::string& text) {
  Line line;
  std::vector<std::string> parts;
  std::string part;
  bool quoted = false, any = false;
  for (const char c : text) {
    if (c == '"') {
      quoted = !quoted;
      any = true;
    } else if (c == ' ' && !quoted) {
      if (any) parts.push_back(part);
      part.clear();
      any = false;
    } else {
      part += c;
      any = true;
    }
  }
  if (any) parts.push_back(part);
  if (parts.empty()) return line;
  line.verb = parts[0];
  const std::size_t behind = text.find(' ');
  line.rest = behind == std::string::npos ? "" : text.substr(behind + 1);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    if (equals == std::string::npos)
      line.words.push_back(parts[i]);
    else
      line.values[parts[i].substr(0, equals)] = parts[i].substr(equals + 1);
  }
  return line;
}

}  // namespace

const std::string& Line::word(std::size_t index) const {
  if (index >= words.size()) throw std::runtime_error(verb + " lacks a word");
  return words[index];
}

std::string Line::text(std::string_view key, std::string_view otherwise) const {
  const auto found = values.find(key);
  return found == values.end() ? std::string(otherwise) : found->second;
}

std::int64_t Line::number(std::string_view key, std::int64_t otherwise) const {
  const auto found = values.find(key);
  return found == values.end() ? otherwise : std::stoll(found->second);
}

double Line::real(std::string_view key, double otherwise) const {
  const auto found = values.find(key);
  return found == values.end() ? otherwise : std::stod(found->second);
}

std::vector<std::string> split(std::string_view list, char at) {
  std::vector<std::string> parts;
  std::stringstream stream{std::string(list)};
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

Scenario read_scenario(const std::string& file_text) {
  Scenario scenario;
  std::istringstream lines(file_text);
  bool below = false;
  for (std::string text; std::getline(lines, text);) {
    if (below)
      scenario.expected += text + "\n";
    else if (text == "----")
      below = true;
    else if (!text.empty() && !text.starts_with('#'))
      scenario.given.push_back(read_line(text));
  }
  if (!below || scenario.given.empty() || scenario.expected.empty())
    throw std::runtime_error("a scenario gives something, then ----, then what comes out");
  return scenario;
}

std::string play(const Scenario& scenario) {
  const std::string& first = scenario.given.front().verb;
  if (first == "window") return play_negotiation(scenario.given);
  if (first == "plan") return play_plan(scenario.given);
  if (first == "upstream") return play_upstream(scenario.given);
  std::string out;
  for (const Line& line : scenario.given) {
    auto answer = play_rule(line);
    if (!answer) answer = play_strategy(line);
    if (!answer) throw std::runtime_error("no scenario knows '" + line.verb + "'");
    out += *answer + "\n";
  }
  return out;
}

}  // namespace plimsoll::scenarios
