#include "grounding/claims.hpp"

#include <algorithm>
#include <array>

#include "base/text/text.hpp"
#include "base/text/words.hpp"

namespace plimsoll::grounding {
namespace {

using base::is_digit;
using base::is_lower;
using base::is_upper;

using namespace std::string_view_literals;

template <std::size_t size>
bool is_one_of(std::string_view word, const std::array<std::string_view, size>& list) {
  return std::ranges::find(list, word) != list.end();
}

// Words of an answer about its sources or its form. They are not in the sources and claim nothing.
constexpr std::array fillers{
    "accord"sv,   "passag"sv, "sourc"sv,  "document"sv,   "text"sv,    "context"sv, "state"sv,   "mention"sv,
    "base"sv,     "follow"sv, "answer"sv, "question"sv,   "summari"sv, "overal"sv,  "also"sv,    "howev"sv,
    "therefor"sv, "thus"sv,   "addit"sv,  "furthermor"sv, "exampl"sv,  "includ"sv,  "provid"sv,  "say"sv,
    "describ"sv,  "refer"sv,  "mean"sv,   "use"sv,        "call"sv,    "known"sv,   "specif"sv,  "etc"sv,
    "well"sv,     "like"sv,   "may"sv,    "might"sv,      "can"sv,     "one"sv,     "make"sv,    "made"sv,
    "becaus"sv,   "sinc"sv,   "given"sv,  "inform"sv,     "excerpt"sv, "note"sv,    "explain"sv, "indic"sv};

constexpr std::array negators{"not"sv,    "no"sv,      "never"sv,   "neither"sv, "nor"sv,    "none"sv,
                              "nobody"sv, "nothing"sv, "without"sv, "cannot"sv,  "nowhere"sv};
// After a negation: "not only ... but" denies nothing.
constexpr std::array cancels{"only"sv, "just"sv, "merely"sv, "simply"sv, "necessarily"sv};
// Between a negation and what it denies: "no longer sold".
constexpr std::array passed_over{"longer"sv,   "yet"sv,  "ever"sv,      "even"sv,
                                 "actually"sv, "also"sv, "explicitly"sv};
constexpr std::array pronouns{"he"sv,  "she"sv, "it"sv,    "they"sv, "him"sv,   "her"sv,  "them"sv,
                              "his"sv, "its"sv, "their"sv, "this"sv, "these"sv, "that"sv, "those"sv};

bool is_negator(std::string_view folded) {
  return is_one_of(folded, negators) || folded.ends_with("n't");
}

// Whether the word at `start` is the first of a sentence or of a quotation.
bool opens(std::string_view text, std::size_t start) {
  std::size_t at = start;
  while (at > 0 && text[at - 1] == ' ') --at;
  if (at == 0) return true;
  return "\"'([{:*#>|-`/=."sv.find(text[at - 1]) != std::string_view::npos ||
         (at > 2 && (text.substr(at - 3, 3) == "\xE2\x80\x9C" || text.substr(at - 3, 3) == "\xE2\x80\x98"));
}

// Whether the bytes look like an identifier: "x86", "num_ctx", "maxTokens".
bool is_identifier(std::string_view text, Span span) {
  const std::string_view word = text.substr(span.start, span.size());
  const auto near = [&](std::size_t at) { return at < text.size() && text[at] == '_'; };
  if (near(span.end) || (span.start > 0 && near(span.start - 1))) return true;
  if (std::ranges::any_of(word, is_digit) && !std::ranges::all_of(word, is_digit)) return true;
  for (std::size_t i = 1; i < word.size(); ++i)
    if (is_upper(word[i]) && is_lower(word[i - 1])) return true;
  return false;
}

// Marks what negations deny: the next word with a meaning, not more than five words on.
class Denials {
 public:
  // Returns whether the word is denied.
  bool take(std::string_view folded, bool is_stop) {
    constexpr int reach = 6;
    if (is_negator(folded)) {
      left_ = reach;
      return false;
    }
    if (left_ == 0) return false;
    --left_;
    if (is_one_of(folded, cancels)) left_ = 0;
    if (is_stop || left_ == 0 || is_one_of(folded, passed_over)) return false;
    left_ = 0;
    return true;
  }
  void end_clause() { left_ = 0; }

 private:
  int left_ = 0;
};

}  // namespace

bool Claims::is_empty() const {
  return std::ranges::all_of(numbers, &Number::is_pronoun) && std::ranges::all_of(words, &ClaimWord::is_stop);
}

Claims read_claims(std::string_view sentence) {
  Claims claims;
  claims.numbers = numbers_in(sentence);
  std::erase_if(claims.numbers, [](const Number& number) { return number.is_citation; });
  auto number = claims.numbers.begin();
  Denials denials;
  std::size_t last_end = 0;
  for (base::WordScanner scanner(sentence); scanner.next();) {
    const Span span{scanner.start(), scanner.end()};
    while (number != claims.numbers.end() && number->span.end <= span.start) ++number;
    const bool in_number = number != claims.numbers.end() && number->span.start <= span.start;
    const std::string_view folded = scanner.folded();
    if (in_number || std::ranges::all_of(folded, is_digit)) continue;
    const std::string_view between = sentence.substr(last_end, span.start - std::min(last_end, span.start));
    if (between.find_first_of(",;:") != std::string_view::npos) denials.end_clause();
    claims.has_pronoun = claims.has_pronoun || is_one_of(folded, pronouns);
    const base::StemmedWord stemmed = base::stem_word(folded);
    ClaimWord word;
    word.stem = stemmed.stem;
    word.span = span;
    word.is_stop = stemmed.stop || is_one_of(word.stem, fillers) || folded.size() == 1;
    word.is_denied = denials.take(folded, stemmed.stop || folded.size() == 1);
    if (span.start < last_end) {
      word.is_stop = true;  // a part of the word before
    } else if (!stemmed.stop && folded.size() > 1) {
      const bool capital = is_upper(sentence[span.start]);
      word.is_name = is_identifier(sentence, span) || (capital && !opens(sentence, span.start));
      if (word.is_name) word.is_stop = false;
    }
    last_end = std::max<std::size_t>(last_end, span.end);
    claims.words.push_back(std::move(word));
  }
  // "Captain Totten left": the first word belongs to the name.
  for (std::size_t i = 0; i + 1 < claims.words.size(); ++i) {
    ClaimWord& word = claims.words[i];
    const ClaimWord& next = claims.words[i + 1];
    if (!word.is_stop && is_upper(sentence[word.span.start]) && next.is_name &&
        next.span.start == word.span.end + 1 && is_upper(sentence[next.span.start]))
      word.is_name = true;
  }
  return claims;
}

}  // namespace plimsoll::grounding
