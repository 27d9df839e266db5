// Divides texts into sentences, and finds those that claim nothing.
#include <algorithm>
#include <array>
#include <string>

#include "base/text/blanks.hpp"
#include "base/text/sentences.hpp"
#include "base/text/text.hpp"
#include "grounding/claims.hpp"

namespace plimsoll::grounding {
namespace {

using base::is_digit;

using namespace std::string_view_literals;

// Whether a line starts a block of its own: a list item, a table row, a heading, a quotation, a fence.
bool opens_block(std::string_view line) {
  if (line.empty()) return true;
  if ("#|>="sv.find(line[0]) != std::string_view::npos || line.starts_with("```")) return true;
  if ("-*+"sv.find(line[0]) != std::string_view::npos)
    return line.size() == 1 || line[1] == ' ' || line[1] == line[0];
  if (line.starts_with("\xE2\x80\xA2")) return true;  // •
  std::size_t digits = 0;
  while (digits < line.size() && is_digit(line[digits])) ++digits;
  return digits > 0 && digits < 4 && digits + 1 < line.size() &&
         (line[digits] == '.' || line[digits] == ')') && line[digits + 1] == ' ';
}

// Whether the block ends with this line.
bool closes_block(std::string_view line) {
  return line.empty() || "#|="sv.find(line[0]) != std::string_view::npos || line.starts_with("```") ||
         line.ends_with(':');
}

// Returns the end of the citation that starts at `at`: "[1]", "[2, 3]"; `at` if there is none.
std::size_t citation_end(std::string_view text, std::size_t at) {
  std::size_t end = at;
  if (end >= text.size() || text[end] != '[') return at;
  ++end;
  bool digits = false;
  while (end < text.size() && (is_digit(text[end]) || ((text[end] == ',' || text[end] == ' ') && digits))) {
    digits = digits || is_digit(text[end]);
    ++end;
  }
  return digits && end < text.size() && text[end] == ']' ? end + 1 : at;
}

constexpr std::array greetings{
    "hello"sv,         "hi"sv,        "hi there"sv, "sure"sv,           "of course"sv,
    "certainly"sv,     "thank you"sv, "thanks"sv,   "you're welcome"sv, "great question"sv,
    "good question"sv, "yes"sv,       "no"sv,       "okay"sv,           "ok"sv};
// Beginnings of sentences that say nothing about the subject.
constexpr std::array courtesies{
    "i hope this"sv,        "let me know"sv,       "feel free"sv,       "i'm happy to"sv, "i am happy to"sv,
    "i'd be happy"sv,       "i would be happy"sv,  "if you have any"sv, "if you need"sv,  "please let me"sv,
    "here is the answer"sv, "here's the answer"sv, "i'd be glad"sv,     "how can i"sv,    "i can help"sv,
    "i'm sorry"sv,          "i am sorry"sv,        "i apologize"sv};
// An answer that says it has none.
constexpr std::array unknowns{
    "i don't know"sv,           "i do not know"sv,           "i don't have"sv,
    "i do not have"sv,          "i cannot answer"sv,         "i can't answer"sv,
    "i could not find"sv,       "i couldn't find"sv,         "i cannot find"sv,
    "i can't find"sv,           "there is no information"sv, "no information"sv,
    "the passages do not"sv,    "the passages don't"sv,      "the passage does not"sv,
    "the passage doesn't"sv,    "the sources do not"sv,      "the sources don't"sv,
    "the source does not"sv,    "the documents do not"sv,    "the documents don't"sv,
    "the document does not"sv,  "the document doesn't"sv,    "the text does not"sv,
    "the text doesn't"sv,       "the context does not"sv,    "the context doesn't"sv,
    "the provided"sv,           "the given passages do"sv,   "nothing in the"sv,
    "it is not specified"sv,    "it is not mentioned"sv,     "it is not stated"sv,
    "not enough information"sv, "unfortunately, the"sv,      "based on the provided"sv};
constexpr std::array denials{"not"sv, "n't"sv, "no "sv, "nothing"sv, "cannot"sv};

bool starts_with_any(std::string_view text, std::span<const std::string_view> list) {
  return std::ranges::any_of(list, [&](std::string_view one) { return text.starts_with(one); });
}

// Returns the sentence in lower case, with plain apostrophes, without marks at its ends.
std::string plain(std::string_view sentence) {
  std::string out = base::to_lower_ascii(sentence);
  for (std::size_t at; (at = out.find("\xE2\x80\x99")) != std::string::npos;) out.replace(at, 3, "'");
  const std::size_t first = out.find_first_not_of(" *_>#-\"");
  const std::size_t last = out.find_last_not_of(" *_.!,\"");
  return first == std::string::npos || last < first ? std::string() : out.substr(first, last - first + 1);
}

}  // namespace

std::vector<Span> sentences_in(std::string_view text) {
  std::vector<Span> sentences;
  std::size_t block = 0;
  bool is_closed = true;
  const auto flush = [&](std::size_t end) {
    if (end > block) base::add_sentences(text, {block, end}, /*wrapped=*/true, sentences);
    block = end;
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const Span inner = base::trimmed(text, {at, end});
    const std::string_view line = text.substr(inner.start, inner.size());
    if (is_closed || opens_block(line)) flush(at);
    is_closed = closes_block(line);
    at = std::min(end + 1, text.size());
  }
  flush(text.size());
  join_citations(text, sentences);
  return sentences;
}

void join_citations(std::string_view text, std::vector<Span>& sentences) {
  for (std::size_t i = 1; i < sentences.size(); ++i) {
    Span& span = sentences[i];
    while (span.size() > 0) {
      const std::size_t end = citation_end(text.substr(0, span.end), span.start);
      if (end == span.start) break;
      sentences[i - 1].end = end;
      span = base::trimmed(text, {end, span.end});
      if (span.size() > 0 && text[span.start] == '.') span = base::trimmed(text, {span.start + 1, span.end});
    }
  }
  std::erase_if(sentences, [](const Span& span) { return span.size() == 0; });
}

std::size_t citations_start(std::string_view sentence) {
  std::size_t start = sentence.size();
  while (start > 0 && sentence[start - 1] == ']') {
    const std::size_t open = sentence.rfind('[', start - 1);
    if (open == std::string_view::npos || citation_end(sentence.substr(0, start), open) != start) break;
    start = open;
    while (start > 0 && sentence[start - 1] == ' ') --start;
  }
  return start;
}

std::string_view why_no_claim(std::string_view sentence, const Claims& claims) {
  if (sentence.empty()) return "nothing to check";
  if (sentence.starts_with('#') || (sentence.starts_with("= ") && sentence.ends_with(" =")))
    return "a heading";
  if (sentence.starts_with("```")) return "a mark";
  if (sentence.ends_with('?')) return "a question";
  const std::string text = plain(sentence);
  if (std::ranges::find(greetings, std::string_view(text)) != greetings.end()) return "a greeting";
  if (starts_with_any(text, courtesies)) return "a courtesy";
  if (starts_with_any(text, unknowns) && claims.numbers.empty() &&
      std::ranges::any_of(denials, [&](std::string_view one) { return text.find(one) != std::string::npos; }))
    return "it says that it has no answer";
  if (claims.is_empty()) return "nothing to check";
  // "Here are the steps:", "**Summary**".
  const bool has_name = std::ranges::any_of(claims.words, &ClaimWord::is_name);
  if (text.ends_with(':') && claims.numbers.empty() && !has_name) return "it introduces what follows";
  return {};
}

}  // namespace plimsoll::grounding
