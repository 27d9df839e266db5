#include "engine/evidence/follow_up.hpp"

#include <algorithm>

#include "base/json/json_member.hpp"
#include "base/text/text.hpp"
#include "count/chat/chat_content.hpp"
#include "retrieve/question_parts.hpp"

namespace plimsoll::engine {
namespace {

using base::is_digit;
using base::is_letter;
using base::is_upper;
using base::member;
using retrieve::dependence_of;

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

std::string text_of_message(const chat::ChatRequest& parts, std::size_t index) {
  return count::joined_text(member(parts.messages()[index], "content"));
}

}  // namespace

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

FollowUp earlier_words(const chat::ChatRequest& parts, std::string_view rewritten) {
  constexpr std::size_t most_bytes = 2'000, most_names = 12, most_questions = 3;
  constexpr float of_rewritten = 0.8F;
  FollowUp found;
  if (parts.turns.empty()) return found;
  found.weight = dependence_of(parts.query);
  if (found.weight == 0) return found;
  const auto& messages = parts.messages();
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
  for (std::string& piece : pieces) {  // the newest first, while there is room
    piece.resize(base::prefix_of(piece, most_bytes - std::min(most_bytes, found.context.size())).size());
    if (piece.empty()) break;
    found.context = found.context.empty() ? std::move(piece) : piece + " " + found.context;
  }
  if (!rewritten.empty()) {
    if (!found.context.empty()) found.context += ' ';
    found.context += rewritten;
    found.weight = std::max(found.weight, of_rewritten);
  }
  if (found.context.empty()) found.weight = 0;
  return found;
}

}  // namespace plimsoll::engine
