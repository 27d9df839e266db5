// Looks for each sentence's evidence: the sentence of a passage that has most of its words, its neighbours,
// and at most two others that add something. Numbers and names must be there, and nothing may contradict.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "grounding/claims.hpp"
#include "grounding/evidence.hpp"
#include "plimsoll/grounding.hpp"

namespace plimsoll {
namespace grounding {
namespace {

constexpr float name_weight = 1.5F, number_weight = 1.5F;
constexpr float asked_weight = 0.4F;     // a word of the question
constexpr float similar_share = 0.9F;    // of a word that shares most of its beginning
constexpr std::size_t most_tried = 6;    // evidence sentences that are compared in full
constexpr std::size_t most_added = 2;    // further evidence sentences that are combined with one
constexpr std::size_t names_before = 3;  // sentences before the evidence that a name may be taken from

// One thing that a sentence says, and where it is found.
struct Item {
  std::string_view shown;
  const ClaimWord* word = nullptr;  // null: a number
  const Number* number = nullptr;
  float weight = 1;
  bool must = false;                 // a number or a name
  std::vector<std::uint32_t> where;  // evidence sentences, ascending

  bool in(std::uint32_t place) const { return std::ranges::binary_search(where, place); }
};

std::string quoted(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string shown(text.substr(0, most));
  while (!shown.empty() && text.size() > most && (shown.back() & '\x80') != 0) shown.pop_back();
  return fmt::format("'{}{}'", shown, text.size() > most ? "..." : "");
}

// The result for one choice of evidence.
struct Trial {
  float words = 0;                    // share of the weight that the evidence has
  float alone = 0;                    // share that the first evidence sentence has
  float plain = 0;                    // the same, without numbers and names
  float alike = 0;                    // share of all its words, also of "the", that this one has
  bool contradicts = false;           // the first evidence sentence says something else
  std::vector<std::uint32_t> places;  // evidence sentences; the first is the best
  std::string problem;
};

class SentenceCheck {
 public:
  SentenceCheck(std::string_view sentence, const Claims& claims, const Claims& question,
                const PassageSentences& library, const GroundingOptions& options)
      : sentence_(sentence), claims_(claims), library_(library), options_(options) {
    for (const ClaimWord& word : claims.words)
      if (!word.is_stop) add(word, question);
    for (const Number& number : claims.numbers) add(number);
    for (const Item& item : items_) total_ += item.weight;
  }

  // Returns the best trial: one without a problem, if there is one.
  Trial run() const {
    Trial best;
    for (const Item& item : items_)
      if (item.must && item.where.empty() && !(item.word != nullptr && in_any_context(*item.word))) {
        best.problem = quoted(item.shown) + " is in no passage";
        return best;
      }
    const std::vector<std::uint32_t> tried = candidates();
    if (tried.empty()) {
      best.problem = "no passage says it";
      return best;
    }
    const std::vector<float> near = similarities(tried);
    std::vector<Trial> trials;
    for (std::size_t i = 0; i < tried.size(); ++i)
      trials.push_back(attempt(tried[i], near.empty() ? std::nullopt : std::optional(near[i])));
    // The sentence that is most like it decides: another one must not support what this one contradicts.
    const Trial* against = nullptr;
    for (const Trial& trial : trials)
      if (trial.contradicts && (against == nullptr || trial.alike > against->alike)) against = &trial;
    const Trial* chosen = nullptr;
    for (const Trial& trial : trials) {
      if (trial.problem.empty() && against != nullptr && trial.alike < against->alike) continue;
      if (chosen == nullptr || (trial.problem.empty() && !chosen->problem.empty()) ||
          (trial.problem.empty() == chosen->problem.empty() && trial.words > chosen->words))
        chosen = &trial;
    }
    return chosen != nullptr && (chosen->problem.empty() || against == nullptr) ? *chosen : *against;
  }

 private:
  void add(const ClaimWord& word, const Claims& question) {
    const bool known = std::ranges::any_of(
        items_, [&](const Item& item) { return item.word != nullptr && item.word->stem == word.stem; });
    if (known) return;
    Item item;
    item.shown = sentence_.substr(word.span.start, word.span.size());
    item.word = &word;
    item.must = word.is_name;
    item.weight = word.is_name ? name_weight : 1;
    const bool asked =
        std::ranges::any_of(question.words, [&](const ClaimWord& one) { return one.stem == word.stem; });
    if (asked) item.weight = asked_weight;
    if (asked) item.must = false;
    if (const auto* const places = library_.with(word.stem)) {
      item.where = *places;
    } else if (!word.is_name) {
      item.where = library_.with_related(word.stem);
      item.weight *= item.where.empty() ? 1 : similar_share;
    }
    items_.push_back(std::move(item));
  }

  void add(const Number& number) {
    if (number.is_pronoun()) return;
    Item item;
    item.shown = sentence_.substr(number.span.start, number.span.size());
    item.number = &number;
    item.must = true;
    item.weight = number_weight;
    item.where = library_.with(number);
    items_.push_back(std::move(item));
  }

  bool in_any_context(const ClaimWord& word) const {
    for (const EvidenceSentence& one : library_.sentences())
      if (library_.has_in_context(one.passage, word.stem)) return true;
    return false;
  }

  // Returns the evidence sentences with the most weight, best first.
  std::vector<std::uint32_t> candidates() const {
    std::unordered_map<std::uint32_t, float> sums;
    for (const Item& item : items_)
      for (const std::uint32_t place : item.where) sums[place] += item.weight;
    std::vector<std::pair<float, std::uint32_t>> order;
    for (const auto& [place, sum] : sums) order.emplace_back(-sum, place);
    const std::size_t kept = std::min(order.size(), most_tried);
    std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(kept));
    std::vector<std::uint32_t> out;
    for (std::size_t i = 0; i < kept; ++i) out.push_back(order[i].second);
    return out;
  }

  std::vector<float> similarities(const std::vector<std::uint32_t>& tried) const {
    if (!options_.similarity) return {};
    std::vector<std::string_view> texts;
    for (const std::uint32_t place : tried) texts.push_back(library_.sentences()[place].text);
    std::vector<float> near = options_.similarity(sentence_, texts);
    return near.size() == tried.size() ? near : std::vector<float>();
  }

  bool are_in_one_passage(std::uint32_t a, std::uint32_t b) const {
    return library_.sentences()[a].passage == library_.sentences()[b].passage;
  }

  // Whether a name is said shortly before the evidence, or in its headings.
  bool is_near(const Item& item, std::uint32_t place) const {
    if (item.word == nullptr) return false;
    if (library_.has_in_context(library_.sentences()[place].passage, item.word->stem)) return true;
    return std::ranges::any_of(item.where, [&](std::uint32_t other) {
      return other <= place + 1 && place <= other + names_before && are_in_one_passage(place, other);
    });
  }

  Trial attempt(std::uint32_t place, std::optional<float> near) const {
    Trial trial;
    trial.places.push_back(place);
    std::vector<bool> covered(items_.size());
    float sum = 0;
    const auto cover = [&](std::uint32_t other) {
      for (std::size_t i = 0; i < items_.size(); ++i)
        if (!covered[i] && items_[i].in(other)) covered[i] = true, sum += items_[i].weight;
    };
    cover(place);
    trial.alone = sum / total_;
    trial.plain = plain_share(covered);
    trial.alike = alike(library_.sentences()[place].claims);
    for (std::size_t i = 0; i < items_.size(); ++i)
      if (!covered[i] && items_[i].word != nullptr && is_near(items_[i], place))
        covered[i] = true, sum += items_[i].weight;
    for (std::size_t round = 0; round < most_added; ++round) {
      const auto next = most_useful(covered, place);
      if (!next) break;
      trial.places.push_back(*next);
      cover(*next);
    }
    trial.words = sum / total_;
    trial.problem = contradiction(trial);
    trial.contradicts = !trial.problem.empty();
    if (!trial.contradicts) trial.problem = shortfall(trial, covered, near);
    return trial;
  }

  float plain_share(const std::vector<bool>& covered) const {
    float sum = 0, all = 0;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].must) continue;
      all += items_[i].weight;
      sum += covered[i] ? items_[i].weight : 0;
    }
    return all > 0 ? sum / all : 1;
  }

  float alike(const Claims& evidence) const {
    const auto shared = std::ranges::count_if(claims_.words, [&](const ClaimWord& word) {
      return std::ranges::any_of(evidence.words, [&](const ClaimWord& one) { return one.stem == word.stem; });
    });
    return static_cast<float>(shared) / static_cast<float>(std::max<std::size_t>(claims_.words.size(), 1));
  }

  std::string contradiction(const Trial& trial) const {
    constexpr float same_subject = 0.5F;
    const EvidenceSentence& evidence = library_.sentences()[trial.places.front()];
    if (trial.plain < same_subject) return {};
    std::string problem = swapped(evidence.claims, evidence.text);
    return problem.empty() ? opposed(evidence.claims) : problem;
  }

  // Returns the evidence sentence that adds the most, if it adds enough: two things, or a number.
  std::optional<std::uint32_t> most_useful(const std::vector<bool>& covered, std::uint32_t first) const {
    constexpr float enough = 1.5F, neighbour_bonus = 0.6F;
    std::unordered_map<std::uint32_t, float> gains;
    for (std::size_t i = 0; i < items_.size(); ++i)
      if (!covered[i])
        for (const std::uint32_t place : items_[i].where) gains[place] += items_[i].weight;
    std::optional<std::uint32_t> best;
    float most = 0;
    for (auto [place, gain] : gains) {
      const bool neighbour = (place + 1 == first || place == first + 1) && are_in_one_passage(place, first);
      if (neighbour) gain += neighbour_bonus;
      if (gain < enough || gain < most || (gain == most && best && *best < place)) continue;
      best = place;
      most = gain;
    }
    return best;
  }

  // Returns what the evidence does not have; empty: nothing that matters.
  std::string shortfall(const Trial& trial, const std::vector<bool>& covered,
                        std::optional<float> near) const {
    for (std::size_t i = 0; i < items_.size(); ++i)
      if (items_[i].must && !covered[i])
        return fmt::format("{} is not where the passages say the rest", quoted(items_[i].shown));
    const GroundingLimits& limits = options_.limits;
    const bool is_close = near && *near >= limits.close;
    if (trial.words < (is_close ? limits.close_words : limits.words)) {
      for (std::size_t i = 0; i < items_.size(); ++i)
        if (!covered[i] && items_[i].where.empty())
          return fmt::format("{} is in no passage", quoted(items_[i].shown));
      return "no passage says it";
    }
    if (trial.alone < limits.one_sentence && !is_close)
      return "its words are in the passages, but not together";
    if (near && *near < limits.far) return "no passage means it";
    return {};
  }

  // Returns the neighbours of the bytes in a text: the words before and after, "" at its ends.
  static std::pair<std::string_view, std::string_view> around(const Claims& claims, Span span) {
    std::string_view before, after;
    for (const ClaimWord& word : claims.words) {
      if (word.span.end <= span.start) before = word.stem;
      if (word.span.start >= span.end) {
        after = word.stem;
        break;
      }
    }
    return {before, after};
  }

  // Finds a number or a name in the place of another one: the words on both sides are the same.
  std::string swapped(const Claims& evidence, std::string_view text) const {
    for (const Number& number : claims_.numbers) {
      if (number.is_pronoun()) continue;
      if (std::ranges::any_of(evidence.numbers, [&](const Number& one) { return one.agrees_with(number); }))
        continue;
      const auto mine = around(claims_, number.span);
      for (const Number& other : evidence.numbers)
        if (around(evidence, other.span) == mine)
          return fmt::format("it says {}, and the passage says {}",
                             quoted(sentence_.substr(number.span.start, number.span.size())),
                             quoted(text.substr(other.span.start, other.span.size())));
    }
    const std::vector<Span> my_names = names_of(claims_), their_names = names_of(evidence);
    for (const Span name : my_names) {
      if (has_all(evidence, claims_, name)) continue;
      const auto mine = around(claims_, name);
      for (const Span other : their_names)
        if (around(evidence, other) == mine && !has_all(claims_, evidence, other))
          return fmt::format("it says {}, and the passage says {}",
                             quoted(sentence_.substr(name.start, name.size())),
                             quoted(text.substr(other.start, other.size())));
    }
    return {};
  }

  // Returns the bytes of names; words that follow each other are one name.
  static std::vector<Span> names_of(const Claims& claims) {
    std::vector<Span> names;
    for (const ClaimWord& word : claims.words) {
      if (!word.is_name) continue;
      if (!names.empty() && word.span.start <= names.back().end + 1)
        names.back().end = std::max(names.back().end, word.span.end);
      else
        names.push_back(word.span);
    }
    return names;
  }

  // Whether `claims` has all words of a name of `of`.
  static bool has_all(const Claims& claims, const Claims& of, Span name) {
    return std::ranges::all_of(of.words, [&](const ClaimWord& word) {
      if (word.span.start < name.start || word.span.end > name.end) return true;
      return std::ranges::any_of(claims.words, [&](const ClaimWord& one) { return one.stem == word.stem; });
    });
  }

  // Finds a word that one denies and the other does not, or a word and its opposite.
  std::string opposed(const Claims& evidence) const {
    for (const ClaimWord& word : claims_.words) {
      bool found = false, agrees = false, both = false;
      for (const ClaimWord& other : evidence.words) {
        if (other.stem == word.stem) {
          found = true;
          agrees = agrees || other.is_denied == word.is_denied;
        }
        both = both || are_opposite(word.stem, other.stem);
      }
      const std::string shown = quoted(sentence_.substr(word.span.start, word.span.size()));
      if (found && !agrees)
        return word.is_denied ? fmt::format("it denies {}, and the passage does not", shown)
                              : fmt::format("the passage denies {}", shown);
      if (both && !found && !word.is_stop) return fmt::format("the passage says the opposite of {}", shown);
    }
    return {};
  }

  std::string_view sentence_;
  const Claims& claims_;
  const PassageSentences& library_;
  const GroundingOptions& options_;
  std::vector<Item> items_;
  float total_ = 0;
};

}  // namespace
}  // namespace grounding

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::supported: return "supported";
    case Verdict::unsupported: return "unsupported";
    case Verdict::no_claim: break;
  }
  return "no_claim";
}

CheckedAnswer check_answer(std::string_view answer, std::span<const GivenPassage> passages,
                           const GroundingOptions& options) {
  using namespace grounding;
  const PassageSentences library(passages);
  const Claims question = read_claims(options.question);
  CheckedAnswer checked;
  for (const Span span : sentences_in(answer)) {
    std::string_view text = answer.substr(span.start, span.size());
    text = text.substr(0, citations_start(text));
    const Claims claims = read_claims(text);
    CheckedSentence& sentence = checked.sentences.emplace_back();
    sentence.span = span;
    if (const std::string_view why = why_no_claim(text, claims); !why.empty()) {
      sentence.reason = why;
      continue;
    }
    if (const auto passage = library.with_quotation(text)) {
      sentence.verdict = Verdict::supported;
      sentence.words = 1;
      sentence.passages = {*passage};
      ++checked.supported;
      continue;
    }
    Trial trial = SentenceCheck(text, claims, question, library, options).run();
    sentence.words = trial.words;
    sentence.verdict = trial.problem.empty() ? Verdict::supported : Verdict::unsupported;
    sentence.reason = std::move(trial.problem);
    ++(sentence.verdict == Verdict::supported ? checked.supported : checked.unsupported);
    if (sentence.verdict != Verdict::supported) continue;
    for (const std::uint32_t place : trial.places)
      sentence.passages.push_back(library.sentences()[place].passage);
    std::ranges::sort(sentence.passages);
    sentence.passages.erase(std::unique(sentence.passages.begin(), sentence.passages.end()),
                            sentence.passages.end());
  }
  return checked;
}

}  // namespace plimsoll
