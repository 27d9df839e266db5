#include "grounding/evidence.hpp"

#include <algorithm>
#include <array>

#include "base/text/blanks.hpp"

namespace plimsoll::grounding {
namespace {

using namespace std::string_view_literals;

// Words that contradict each other, as stems.
struct Opposites {
  std::string_view one, other;
};
constexpr std::array opposites{
    Opposites{"increas", "decreas"},  Opposites{"increas", "reduc"},     Opposites{"rise", "fall"},
    Opposites{"rose", "fell"},        Opposites{"larger", "smaller"},    Opposites{"largest", "smallest"},
    Opposites{"higher", "lower"},     Opposites{"highest", "lowest"},    Opposites{"maximum", "minimum"},
    Opposites{"longest", "shortest"}, Opposites{"best", "worst"},        Opposites{"first", "last"},
    Opposites{"befor", "after"},      Opposites{"abov", "below"},        Opposites{"north", "south"},
    Opposites{"east", "west"},        Opposites{"northern", "southern"}, Opposites{"eastern", "western"},
    Opposites{"enabl", "disabl"},     Opposites{"true", "fals"},         Opposites{"alway", "never"},
    Opposites{"success", "failur"},   Opposites{"succeed", "fail"},      Opposites{"accept", "reject"},
    Opposites{"accept", "refus"},     Opposites{"allow", "forbid"},      Opposites{"win", "lose"},
    Opposites{"won", "lost"},         Opposites{"posit", "negat"},       Opposites{"start", "end"},
    Opposites{"begin", "end"},        Opposites{"open", "close"},        Opposites{"faster", "slower"},
    Opposites{"older", "younger"},    Opposites{"old", "young"},         Opposites{"support", "oppos"},
    Opposites{"cheap", "expens"},     Opposites{"male", "femal"},        Opposites{"includ", "exclud"}};

// Whether two stems are forms of one word that the stemmer does not join: "navigator", "navigation".
bool are_related(std::string_view a, std::string_view b) {
  constexpr std::size_t least = 5;
  const auto [in_a, in_b] = std::ranges::mismatch(a, b);
  const auto shared = static_cast<std::size_t>(in_a - a.begin());
  return shared >= least && shared * 10 >= std::max(a.size(), b.size()) * 8;
}

// Whether a sentence or clause of the line starts at `at`, or ends there.
bool is_start(std::string_view line, std::size_t at) {
  if (at == 0) return true;
  return at > 1 && line[at - 1] == ' ' && ".!?:;\"')]}*-|>=#"sv.find(line[at - 2]) != std::string_view::npos;
}
bool is_end(std::string_view line, std::size_t at) {
  return at == line.size() || (line[at] == ' ' && ".!?;|"sv.find(line[at - 1]) != std::string_view::npos);
}

}  // namespace

bool are_opposite(std::string_view a, std::string_view b) {
  return std::ranges::any_of(opposites, [&](const Opposites& pair) {
    return (pair.one == a && pair.other == b) || (pair.one == b && pair.other == a);
  });
}

PassageSentences::PassageSentences(std::span<const GivenPassage> passages) {
  for (std::size_t i = 0; i < passages.size(); ++i) {
    context_.push_back(read_claims(passages[i].context));
    lines_.push_back(base::with_single_blanks(passages[i].text));
    for (const Span span : sentences_in(passages[i].text)) {
      const std::string_view text = passages[i].text.substr(span.start, span.size());
      sentences_.push_back({i, text, read_claims(text)});
      add(static_cast<std::uint32_t>(sentences_.size() - 1));
    }
  }
}

std::optional<std::size_t> PassageSentences::with_quotation(std::string_view sentence) const {
  const std::string line = base::with_single_blanks(sentence);
  for (std::size_t i = 0; i < lines_.size(); ++i)
    for (std::size_t at = 0; (at = lines_[i].find(line, at)) != std::string::npos; ++at)
      if (is_start(lines_[i], at) && is_end(lines_[i], at + line.size())) return i;
  return std::nullopt;
}

const std::vector<std::uint32_t>* PassageSentences::with(const std::string& stem) const {
  const auto found = words_.find(stem);
  return found == words_.end() ? nullptr : &found->second;
}

std::vector<std::uint32_t> PassageSentences::with_related(const std::string& stem) const {
  std::vector<std::uint32_t> out;
  for (const auto& [word, places] : words_)
    if (are_related(word, stem)) out.insert(out.end(), places.begin(), places.end());
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<std::uint32_t> PassageSentences::with(const Number& number) const {
  std::vector<std::uint32_t> out;
  const auto found = numbers_.find(number.value);
  if (found == numbers_.end()) return out;
  for (const std::uint32_t place : found->second)
    if (std::ranges::any_of(sentences_[place].claims.numbers,
                            [&](const Number& one) { return one.agrees_with(number); }))
      out.push_back(place);
  return out;
}

bool PassageSentences::has_in_context(std::size_t passage, const std::string& stem) const {
  return std::ranges::any_of(context_[passage].words,
                             [&](const ClaimWord& word) { return word.stem == stem; });
}

void PassageSentences::add(std::uint32_t place) {
  const auto put = [&](std::vector<std::uint32_t>& list) {
    if (list.empty() || list.back() != place) list.push_back(place);
  };
  for (const ClaimWord& word : sentences_[place].claims.words) put(words_[word.stem]);
  for (const Number& number : sentences_[place].claims.numbers) put(numbers_[number.value]);
}

}  // namespace plimsoll::grounding
