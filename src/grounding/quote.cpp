// Chooses sentences by the score of the search. That score hardly differs between neighbours, because it
// takes the text around a sentence into account; the relevance, which counts the sentence's own words and
// meaning, decides among them.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text/blanks.hpp"
#include "grounding/claims.hpp"
#include "plimsoll/grounding.hpp"

namespace plimsoll {
namespace {

// Chosen on the questions of the evidence set; 0.5 to 4 give the same result within two points.
constexpr float relevance_weight = 2;

bool is_heading(std::string_view line) {
  return line.empty() || line.starts_with('#') || (line.starts_with("= ") && line.ends_with(" ="));
}

bool ends_a_sentence(std::string_view line) {
  return line.find_last_of(".!?:;") + 1 == line.size() && !line.empty();
}

// Returns the text on one line, without headings, and without the marks of a list item, quotation or table
// row.
std::string quotation(std::string_view text) {
  for (std::size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    const std::string line = base::with_single_blanks(text.substr(0, end));
    const bool stands_alone = text.substr(end + 1).starts_with('\n') && !ends_a_sentence(line);
    if (!is_heading(line) && !stands_alone) break;
  }
  std::string line = base::with_single_blanks(text);
  if (line.starts_with("| ") && line.ends_with(" |") && line.size() > 4)  // a row of a table
    return line.substr(2, line.size() - 4);
  for (const std::string_view mark : {"- ", "* ", "+ ", "> "})
    if (line.starts_with(mark)) return line.substr(mark.size());
  const std::size_t digits = line.find_first_not_of("0123456789");
  if (digits > 0 && digits < 3 && (line.compare(digits, 2, ". ") == 0 || line.compare(digits, 2, ") ") == 0))
    return line.substr(digits + 2);
  return line;
}

// Whether it is code or the text of a terminal: they are no answer by themselves.
bool is_code(std::string_view text) {
  constexpr std::size_t one_in = 8;  // characters that prose hardly has
  if (text.starts_with("$ ") || text.find("\n$ ") != std::string_view::npos || text.starts_with("```"))
    return true;
  const auto signs = std::ranges::count_if(
      text, [](char c) { return std::string_view("{}[]<>=$_/\\;#&^~").find(c) != std::string_view::npos; });
  return static_cast<std::size_t>(signs) * one_in > text.size();
}

struct Place {
  float rank = 0;
  std::size_t index = 0;
};

}  // namespace

QuotedAnswer quote_answer(std::span<const QuotableSentence> sentences, const QuoteLimits& limits) {
  float best_score = 0, best_relevance = 0;
  for (const QuotableSentence& one : sentences) best_score = std::max(best_score, one.score);
  std::vector<Place> order;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const QuotableSentence& one = sentences[i];
    texts.push_back(quotation(one.text));
    if (is_code(one.text) || !grounding::why_no_claim(texts[i], grounding::read_claims(texts[i])).empty())
      continue;
    if (limits.already_said.find(texts[i]) != std::string_view::npos) continue;
    order.push_back({(best_score > 0 ? one.score / best_score : 0) + relevance_weight * one.relevance, i});
    best_relevance = std::max(best_relevance, one.relevance);
  }
  QuotedAnswer answer;
  if (best_relevance < limits.least_relevance) return answer;
  std::ranges::stable_sort(order, std::greater<>(), &Place::rank);
  std::set<std::string_view> said;
  for (const Place& place : order) {
    if (answer.sentences.size() == limits.most) break;
    if (!answer.sentences.empty() && sentences[place.index].relevance < limits.least_share * best_relevance)
      continue;
    if (said.insert(texts[place.index]).second) answer.sentences.push_back(place.index);
  }
  std::ranges::sort(answer.sentences);
  for (const std::size_t i : answer.sentences)
    answer.text += fmt::format("{}{} [{}]", answer.text.empty() ? "" : " ", texts[i], sentences[i].source);
  return answer;
}

}  // namespace plimsoll
