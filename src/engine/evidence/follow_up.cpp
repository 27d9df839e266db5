#include "engine/evidence/follow_up.hpp"

#include <algorithm>
#include <array>

#include "base/json/json_member.hpp"
#include "base/text/text.hpp"
#include "base/text/words.hpp"
#include "count/chat/chat_request.hpp"

namespace plimsoll::engine {
namespace {

using base::is_digit;
using base::is_letter;
using base::is_upper;
using base::member;

// Words that refer to earlier text.
constexpr std::array<std::string_view, 19> pointers{
    "it",  "its", "that", "this",    "these",   "those",   "they",   "them",   "their",      "he",
    "she", "his", "her",  "another", "instead", "example", "former", "latter", "alternative"};
// Words about the form of the answer, not its subject.
constexpr std::array<std::string_view, 32> manners{
    "give",   "show",     "tell",      "explain",   "describe",  "list",   "please", "more",
    "detail", "details",  "briefly",   "short",     "shorter",   "longer", "simple", "simpler",
    "again",  "continue", "elaborate", "summarize", "summarise", "also",   "else",   "other",
    "mean",   "means",    "say",       "said",      "ok",        "thanks", "one",    "ones"};

template <std::size_t n>
bool has(const std::array<std::string_view, n>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool is_word_byte(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// foo_bar, fooBar, foo-bar, v1.2, CORS: a name in any context.
bool is_identifier(std::string_view word) {
  bool lower = false, inner_upper = false, joint = false;
  std::size_t upper = 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char c = word[i];
    if (is_upper(c)) ++upper;
    if (c >= 'a' && c <= 'z') lower = true;
    if (is_upper(c) && lower) inner_upper = true;
    if ((c == '_' || c == '-' || c == '.') && i > 0 && i + 1 < word.size()) joint = true;
  }
  return joint || inner_upper || (upper > 1 && !lower);
}

std::string text_of_message(const RequestParts& parts, std::size_t index) {
  return count::joined_text(member(parts.body["messages"][index], "content"));
}

}  // namespace

float dependence_of(std::string_view question) {
  std::size_t subjects = 0;
  bool points = false;
  base::WordScanner scanner(question);
  while (scanner.next()) {
    const std::string_view word = scanner.folded();
    if (has(pointers, word)) points = true;
    if (!has(pointers, word) && !has(manners, word) && !base::stem_word(word).stop) ++subjects;
  }
  if (subjects == 0) return 1;
  if (points) return subjects <= 3 ? 0.6F : 0.3F;
  return subjects == 1 ? 0.4F : 0;
}

std::vector<std::string> names_in(std::string_view text, std::size_t most) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    while (name.ends_with('.') || name.ends_with('-')) name.remove_suffix(1);
    constexpr std::size_t longest = 60;
    if (name.size() < 2 || name.size() > longest || names.size() >= most) return;
    if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
  };
  bool opens = true;  // at the start of a sentence, where every word is capitalised
  for (std::size_t at = 0; at < text.size() && names.size() < most;) {
    if (text[at] == '`') {
      const std::size_t end = text.find('`', at + 1);
      if (end != std::string_view::npos && end > at + 1) add(text.substr(at + 1, end - at - 1));
      at = end == std::string_view::npos ? at + 1 : end + 1;
      opens = false;
      continue;
    }
    if (!is_word_byte(text[at])) {
      if (text[at] == '!' || text[at] == '?' || text[at] == '\n' || text[at] == ':') opens = true;
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_word_byte(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    if (is_identifier(word) || (is_upper(word.front()) && !opens)) add(word);
    opens = word.ends_with('.');
    at = end;
  }
  return names;
}

FollowUp earlier_words(const RequestParts& parts) {
  constexpr std::size_t most_bytes = 2'000, most_names = 12, most_questions = 3;
  constexpr float of_rewritten = 0.8F;
  FollowUp found;
  if (parts.turns.empty()) return found;
  found.weight = dependence_of(parts.query);
  if (found.weight == 0) return found;
  const auto& messages = parts.body["messages"];
  // Names from the last answer; then questions, newest first, until one names its own subject.
  std::vector<std::string> pieces;
  bool answered = false, complete = false;
  for (auto turn = parts.turns.rbegin(); turn != parts.turns.rend() && !complete; ++turn) {
    for (auto i = turn->rbegin(); i != turn->rend() && !complete; ++i) {
      const std::string text = text_of_message(parts, *i);
      if (messages[*i]["role"] == "assistant" && !answered) {
        answered = true;
        for (std::string& name : names_in(text, most_names)) pieces.push_back(std::move(name));
      } else if (messages[*i]["role"] == "user") {
        pieces.push_back(text);
        complete = dependence_of(text) == 0;
      }
    }
    if (std::distance(parts.turns.rbegin(), turn) + 1 >= static_cast<std::ptrdiff_t>(most_questions)) break;
  }
  std::ranges::reverse(pieces);
  for (const std::string& piece : pieces) {
    if (found.context.size() + piece.size() > most_bytes) continue;
    found.context += (found.context.empty() ? "" : " ") + piece;
  }
  if (!parts.rewritten.empty()) {
    found.context += (found.context.empty() ? "" : " ") + parts.rewritten;
    found.weight = std::max(found.weight, of_rewritten);
  }
  if (found.context.empty()) found.weight = 0;
  return found;
}

}  // namespace plimsoll::engine
