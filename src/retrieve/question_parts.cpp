#include "retrieve/question_parts.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text/sentences.hpp"
#include "base/text/text.hpp"
#include "base/text/words.hpp"

namespace plimsoll::retrieve {
namespace {

// Longer texts are material to work on, not a question.
constexpr std::size_t longest_question = 2'000;

// Words that refer to earlier text.
constexpr std::array<std::string_view, 19> pointers{
    "it",  "its", "that", "this",    "these",   "those",   "they",   "them",   "their",      "he",
    "she", "his", "her",  "another", "instead", "example", "former", "latter", "alternative"};
// Words about the form of the answer, not its subject.
constexpr std::array<std::string_view, 38> manners{
    "give",   "show",     "tell",      "explain",   "describe",  "list",    "please", "more",
    "detail", "details",  "briefly",   "short",     "shorter",   "longer",  "simple", "simpler",
    "again",  "continue", "elaborate", "summarize", "summarise", "also",    "else",   "other",
    "mean",   "means",    "say",       "said",      "ok",        "thanks",  "one",    "ones",
    "first",  "second",   "third",     "last",      "next",      "previous"};
// Words that open a question, and those that open a request.
constexpr std::array<std::string_view, 29> openers{
    "what", "how",    "why",  "who",  "whom",   "whose",   "which",   "when",    "where",    "wie",
    "wer",  "warum",  "wo",   "wann", "welche", "welcher", "welches", "comment", "pourquoi", "quand",
    "ou",   "quelle", "quel", "que",  "como",   "cuando",  "donde",   "quien",   "cual"};
constexpr std::array<std::string_view, 16> requests{
    "explain", "describe",  "list",      "compare", "name", "tell", "give",  "show",
    "define",  "summarize", "summarise", "outline", "find", "say",  "state", "mention"};
constexpr std::array<std::string_view, 20> auxiliaries{
    "is",    "are",    "was", "were", "do",  "does", "did", "can", "could", "will",
    "would", "should", "may", "must", "has", "have", "had", "am",  "isn't", "doesn't"};
constexpr std::array<std::string_view, 5> conjunctions{"and", "und", "et", "y", "e"};
// What follows an auxiliary in a question: "and was it planned", but not "and was based on".
constexpr std::array<std::string_view, 20> subject_openers{
    "it",   "he",   "she",   "they",  "we",    "you",   "i",   "the", "a",   "an",
    "this", "that", "these", "those", "there", "their", "his", "her", "its", "any"};

template <std::size_t n>
bool is_one_of(const std::array<std::string_view, n>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

struct Token {
  std::string folded;
  std::size_t start = 0;
};

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> out;
  base::WordScanner scanner(text);
  while (scanner.next()) {
    if (!out.empty() && scanner.start() < out.back().start + out.back().folded.size())
      continue;  // camel case
    out.push_back({std::string(scanner.folded()), scanner.start()});
  }
  return out;
}

// "1. ", "2) ", "b) ", "- ", "* ": returns the rest of the line.
std::string_view without_marker(std::string_view line) {
  line = base::trim(line);
  std::size_t at = 0;
  while (at < line.size() && base::is_digit(line[at])) ++at;
  if (at == 0 && line.size() > 1 && base::is_letter(line[0]) && line[1] == ')') at = 1;
  if (at > 0 && at <= 2 && at + 1 < line.size() && (line[at] == '.' || line[at] == ')'))
    return base::trim(line.substr(at + 1));
  if (line.size() > 2 && (line[0] == '-' || line[0] == '*') && line[1] == ' ')
    return base::trim(line.substr(2));
  return line;
}

bool ends_with_mark(std::string_view sentence) {
  return sentence.ends_with('?') || sentence.ends_with("\xEF\xBC\x9F") || sentence.ends_with("\xD8\x9F");
}

// "What ...", "At which ...", "Did ...". Other scripts have their own order of words: there the mark decides.
bool opens_as_question(std::string_view sentence) {
  const std::vector<Token> words = tokens_of(sentence);
  constexpr std::size_t first_words = 3;  // "During which year"
  for (std::size_t i = 0; i < std::min(words.size(), first_words); ++i)
    if (is_one_of(openers, words[i].folded)) return true;
  if (words.empty()) return false;
  return is_one_of(auxiliaries, words[0].folded) || static_cast<unsigned char>(words[0].folded[0]) >= 0x80;
}

bool requests_something(std::string_view sentence) {
  const std::vector<Token> words = tokens_of(sentence);
  return !words.empty() && is_one_of(requests, words[0].folded);
}

bool asks(std::string_view sentence) {
  return requests_something(sentence) || (ends_with_mark(sentence) && opens_as_question(sentence));
}

// Returns where a second question begins within a sentence, with the end of the first one.
struct Border {
  std::size_t end = 0, begin = 0;
};

std::optional<Border> border_at(std::string_view sentence, const std::vector<Token>& words, std::size_t i) {
  const std::string& word = words[i].folded;
  const bool has_next = i + 1 < words.size();
  if (i == 0 || !has_next) return std::nullopt;
  const auto before = [&](std::size_t at) {  // the last visible character before a word
    while (at > 0 && sentence[at - 1] == ' ') --at;
    return at;
  };
  // "; what ...": a question of its own, whatever it opens with.
  const std::size_t end = before(words[i].start);
  const bool after_semicolon = end > 0 && sentence[end - 1] == ';';
  const bool opens = is_one_of(openers, word) || is_one_of(requests, word) ||
                     (word == "was" && words[i - 1].folded == "und");  // German
  if (after_semicolon && (opens || is_one_of(auxiliaries, word))) return Border{end - 1, words[i].start};
  if (i < 2 || !is_one_of(conjunctions, words[i - 1].folded)) return std::nullopt;
  std::size_t first_end = before(words[i - 1].start);
  const bool comma = first_end > 0 && sentence[first_end - 1] == ',';
  if (comma) --first_end;
  const std::string& next = words[i + 1].folded;
  // "and what", "and how", "and why" do not continue a clause; "and who ..." may, so it takes a comma, and
  // "and where
  // ..." the order of words of a question.
  const bool never_relative = word == "how" || word == "why" || word == "what" || word == "wie" ||
                              word == "warum" || word == "comment" || word == "pourquoi" || word == "como";
  const bool inverted = is_one_of(auxiliaries, next);
  const bool may_be_relative =
      word == "who" || word == "which" || word == "whose" || word == "whom" || word == "que";
  const bool is_border = (never_relative && (comma || i >= 4)) ||
                         (opens && comma && (inverted || !may_be_relative)) ||
                         (opens && inverted && !may_be_relative) ||
                         (comma && is_one_of(auxiliaries, word) && is_one_of(subject_openers, next));
  if (!is_border) return std::nullopt;
  return Border{first_end, words[i].start};
}

void split_sentence(std::string_view sentence, std::vector<std::string>& into) {
  const std::vector<Token> words = tokens_of(sentence);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto border = border_at(sentence, words, i);
    if (!border || border->end <= begin) continue;
    const std::string_view first = sentence.substr(0, border->end);
    if (!opens_as_question(first) && !requests_something(first)) {
      begin = 0;
      break;
    }
    into.emplace_back(base::trim(sentence.substr(begin, border->end - begin)));
    begin = border->begin;
  }
  into.emplace_back(base::trim(sentence.substr(begin)));
}

// "What is a list?": asks for a word that is about the form of the answer elsewhere.
bool asks_for_a_word(std::string_view question) {
  const std::vector<Token> words = tokens_of(question);
  return words.size() == 4 && is_one_of(openers, words[0].folded) &&
         is_one_of(auxiliaries, words[1].folded) &&
         (words[2].folded == "a" || words[2].folded == "an" || words[2].folded == "the") &&
         (is_one_of(manners, words[3].folded) || words[3].folded == "example" ||
          words[3].folded == "alternative");
}

// Returns the number of words that say what it is about.
std::size_t subjects_of(std::string_view question, bool& points) {
  std::size_t subjects = asks_for_a_word(question) ? 1 : 0;
  base::WordScanner scanner(question);
  while (scanner.next()) {
    const std::string_view word = scanner.folded();
    if (is_one_of(pointers, word)) points = true;
    if (names_subject(word)) ++subjects;
  }
  return subjects;
}

// Returns the sentences of a line. A question does not end at the full stop of an abbreviation.
std::vector<std::string> sentences_of(std::string_view line) {
  std::vector<Span> spans;
  base::add_sentences(line, {0, line.size()}, false, spans);
  std::vector<std::string> out;
  bool is_open = false;
  for (const Span& span : spans) {
    const std::string_view sentence = line.substr(span.start, span.size());
    if (is_open)
      (out.back() += ' ') += sentence;
    else
      out.emplace_back(sentence);
    is_open = sentence.ends_with('.') && opens_as_question(out.back());
  }
  return out;
}

// Returns the questions as written; what is said before one belongs to it.
std::vector<std::string> questions_in(std::string_view text) {
  std::vector<std::string> out;
  std::string said;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    for (const std::string& sentence : sentences_of(without_marker(text.substr(at, end - at)))) {
      if (!asks(sentence) && ends_with_mark(sentence) && said.empty() && !out.empty()) {
        (out.back() += ' ') += sentence;  // "Which is older? The pier or the lighthouse?"
        continue;
      }
      if (!asks(sentence)) {
        said += (said.empty() ? "" : " ") + sentence;
        continue;
      }
      std::vector<std::string> parts;
      split_sentence(sentence, parts);
      if (!said.empty()) parts.front() = said + " " + parts.front();
      said.clear();
      out.insert(out.end(), parts.begin(), parts.end());
    }
    at = end + 1;
  }
  if (!said.empty() && !out.empty()) out.back() += " " + said;
  return out;
}

}  // namespace

bool names_subject(std::string_view word) {
  return !is_one_of(pointers, word) && !is_one_of(manners, word) && !base::stem_word(word).stop;
}

float dependence_of(std::string_view question) {
  bool points = false;
  const std::size_t subjects = subjects_of(question, points);
  if (subjects == 0) return 1;
  if (points) return subjects <= 3 ? 0.6F : 0.3F;
  return subjects == 1 ? 0.4F : 0;
}

std::vector<QuestionPart> parts_of(std::string_view question) {
  std::vector<QuestionPart> whole{{std::string(question), 0}};
  if (question.size() > longest_question) return whole;
  std::vector<QuestionPart> out;
  bool last_is_empty = false;  // "Tell me:" goes with what follows, "and why?" with what precedes
  for (std::string& part : questions_in(question)) {
    bool points = false;
    const bool is_empty = subjects_of(part, points) == 0;
    if (!out.empty() && (is_empty || last_is_empty || out.size() == most_parts))
      out.back().text += " " + part;
    else
      out.push_back({std::move(part), 0});
    last_is_empty = is_empty && (last_is_empty || out.size() == 1);
  }
  if (out.size() < 2) return whole;
  for (std::size_t i = 1; i < out.size(); ++i) out[i].dependence = dependence_of(out[i].text);
  return out;
}

}  // namespace plimsoll::retrieve
