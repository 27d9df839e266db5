#include "memory/reasoning.hpp"

#include <array>

#include "base/text/text.hpp"

namespace plimsoll::memory {
namespace {

using namespace std::string_view_literals;

constexpr std::array marks{"thinking"sv, "think"sv, "reasoning"sv, "thought"sv};

struct Mark {
  std::size_t end = 0;  // position after it; 0: none
  bool closes = false;
};

// Parses the mark at `at`, in any letter case, with any attributes, on one line.
Mark mark_at(std::string_view text, std::size_t at) {
  constexpr std::size_t longest = 64;
  std::size_t name = at + 1;
  const bool closes = name < text.size() && text[name] == '/';
  if (closes) ++name;
  for (const std::string_view mark : marks) {
    const std::string_view word = text.substr(std::min(name, text.size()), mark.size());
    if (base::to_lower_ascii(word) != mark) continue;
    const std::string_view rest = text.substr(name + mark.size(), longest);
    if (rest.empty() || (rest[0] != '>' && rest[0] != ' ')) continue;
    const std::size_t end = rest.find_first_of(">\n");
    if (end != std::string_view::npos && rest[end] == '>') return {name + mark.size() + end + 1, closes};
  }
  return {};
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view white = " \t\r\n";
  const std::size_t first = text.find_first_not_of(white);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(white) - first + 1));
}

}  // namespace

std::string without_reasoning(std::string_view text) {
  std::string said;
  // Adds a line break, so that the text on both sides of a block cannot form a mark.
  const auto say = [&](std::string_view more) {
    if (!said.empty() && said.back() != '\n' && !more.empty()) said += '\n';
    said += more;
  };
  int depth = 0;
  std::size_t from = 0;  // start of the unprocessed text
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    const Mark mark = mark_at(text, at);
    if (mark.end == 0) continue;
    if (depth == 0 && mark.closes) {
      said.clear();
    } else if (depth == 0) {
      say(text.substr(from, at - from));
    }
    depth += mark.closes ? (depth > 0 ? -1 : 0) : 1;
    from = mark.end;
    at = mark.end - 1;
  }
  if (depth == 0) say(text.substr(from));
  return trimmed(said);
}

}  // namespace plimsoll::memory
