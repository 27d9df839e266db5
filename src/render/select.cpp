// Chooses sentences of the evidence.
//
// Greedy by score: takes the best sentences while they fit and skips those that do not. A sentence next to a
// chosen one needs no label. Then labels are written, the text is counted exactly, and the estimate is
// corrected: if it is too long, the weakest are dropped; if there is room, the next are added.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "base/text/text.hpp"
#include "base/text/words.hpp"
#include "plimsoll/passage.hpp"
#include "render/passages.hpp"

namespace plimsoll::render {
namespace {

// How often the rest of the budget is offered again. The estimate is accurate to a few tokens, so later
// rounds find little.
constexpr int rounds = 4;
// In less room no sentence is worth its label.
constexpr Tokens least_room = 6;
// Sentences that share nine of ten words are repetitions.
constexpr double same_share = 0.9;

struct Place {
  float score = 0;
  std::uint32_t stretch = 0;
  std::uint32_t sentence = 0;
};

// The words of a sentence as a set, with a bit mask for fast comparison.
struct Words {
  std::uint64_t bits = 0;
  std::vector<std::uint64_t> hashes;  // ascending, unique
  // Numbers and words that negate, likewise: sentences that differ in one of them say different things.
  std::vector<std::uint64_t> telling;
};

bool is_telling(std::string_view word) {
  constexpr std::array<std::string_view, 7> negations{"not",   "no",   "never", "without",
                                                      "nicht", "kein", "pas"};
  return std::ranges::any_of(word, base::is_digit) || std::ranges::find(negations, word) != negations.end();
}

void sort_unique(std::vector<std::uint64_t>& hashes) {
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
}

Words words_of(std::string_view text) {
  Words out;
  out.hashes.reserve(text.size() / 4);
  base::WordScanner scanner(text);
  while (scanner.next()) {
    const std::uint64_t hash = std::hash<std::string_view>{}(scanner.folded()) * 0x9e3779b97f4a7c15U;
    out.bits |= std::uint64_t{1} << (hash >> 58);
    out.hashes.push_back(hash);
    if (is_telling(scanner.folded())) out.telling.push_back(hash);
  }
  sort_unique(out.hashes);
  sort_unique(out.telling);
  return out;
}

bool same(const Words& a, const Words& b) {
  const std::size_t larger = std::max(a.hashes.size(), b.hashes.size());
  const std::size_t smaller = std::min(a.hashes.size(), b.hashes.size());
  if (static_cast<double>(smaller) < same_share * static_cast<double>(larger)) return false;
  if (a.telling != b.telling) return false;
  if (std::popcount(a.bits ^ b.bits) > 2 + static_cast<int>(larger / 5)) return false;
  std::size_t shared = 0;
  for (auto x = a.hashes.begin(), y = b.hashes.begin(); x != a.hashes.end() && y != b.hashes.end();) {
    if (*x == *y) {
      ++shared, ++x, ++y;
    } else if (*x < *y) {
      ++x;
    } else {
      ++y;
    }
  }
  return static_cast<double>(shared) >= same_share * static_cast<double>(larger + smaller - shared);
}

class Selector {
 public:
  Selector(const Evidence& evidence, const Tokenizer& tokenizer, const SelectOptions& options)
      : evidence_(evidence), tokenizer_(tokenizer), options_(options) {
    for (std::uint32_t s = 0; s < evidence.stretches.size(); ++s) {
      const auto& sentences = evidence.stretches[s].sentences;
      first_.push_back(order_.size());
      for (std::uint32_t i = 0; i < sentences.size(); ++i) order_.push_back({sentences[i].score, s, i});
    }
    tokens_.assign(order_.size(), -1);
    cost_.assign(order_.size(), 0);
    chosen_.assign(order_.size(), false);
    given_up_.assign(order_.size(), false);
    std::ranges::stable_sort(order_, std::greater<>(), &Place::score);
    if (!order_.empty()) best_score_ = order_.front().score;
    if (evidence.parts > 1) share_among_parts();
    apart_ = options.labels ? tokenizer.count("\n[12] ") : tokenizer.count("\n");
  }

  Selection run() {
    if (options_.budget <= 0) return nothing();
    const auto names = static_cast<Tokens>(
        options_.labels ? options_.label_share * static_cast<double>(options_.budget) : 0);
    take(options_.budget - names);
    Selection best = write(names);
    while (best.tokens > options_.budget && drop_weakest()) best = write(names);
    for (int round = 0; round < rounds && options_.budget - best.tokens >= least_room; ++round) {
      const Chosen before = chosen_;
      if (!take(options_.budget - best.tokens)) break;
      Selection more = write(names);
      if (more.tokens <= options_.budget) {
        best = std::move(more);
      } else {
        give_up_since(before);
      }
    }
    if (best.tokens > options_.budget) return nothing();
    for (SelectedPassage& passage : best.passages) passage.tokens = tokenizer_.count(passage.text);
    best.left_out = left_out();
    return best;
  }

 private:
  Selection nothing() {
    chosen_.assign(chosen_.size(), false);
    take_stock();
    Selection none;
    none.left_out = left_out();
    return none;
  }

  std::vector<LeftOutDocument> left_out() const {
    std::set<DocumentId> known;
    for (const Place& place : order_)
      if (chosen_[at(place)]) known.insert(document_of(place));
    std::vector<LeftOutDocument> out;
    for (const Place& place : order_)
      if (known.insert(document_of(place)).second) out.push_back({document_of(place), why_left_out(place)});
    return out;
  }

  DocumentId document_of(const Place& place) const { return evidence_.stretches[place.stretch].document->id; }

  // `place`: the best sentence of a document without a passage.
  std::string why_left_out(const Place& place) const {
    const ScoredSentence& sentence = sentence_at(place);
    if (sentence.relevance < options_.least_relevance)
      return fmt::format("no sentence near enough (relevance {:.2f}, the least is {:.2f})",
                         sentence.relevance, options_.least_relevance);
    if (is_weak(place))
      return fmt::format("score {:.2f}, less than {:.0f} % of the best", place.score,
                         100 * options_.least_share);
    if (repeats(words_of(text_of(place)))) return "says what another passage says";
    if (options_.most_passages && runs_ >= *options_.most_passages)
      return fmt::format("the number of passages is limited to {} (score {:.2f})", *options_.most_passages,
                         place.score);
    return fmt::format("not among the best for {} tokens (score {:.2f})",
                       base::with_thousands(options_.budget), place.score);
  }

  // Reorders the sentences so that each part of the question gets as many tokens as the others, wherever the
  // budget ends, while it has sentences.
  void share_among_parts() {
    std::vector<std::vector<Place>> by_part(evidence_.parts);
    for (const Place& place : order_)
      by_part[std::min(sentence_at(place).part, evidence_.parts - 1)].push_back(place);
    std::vector<std::size_t> next(by_part.size());
    std::vector<Tokens> given(by_part.size());
    for (Place& place : order_) {
      std::size_t poorest = by_part.size();
      for (std::size_t p = 0; p < by_part.size(); ++p)
        if (next[p] < by_part[p].size() && (poorest == by_part.size() || given[p] < given[poorest]))
          poorest = p;
      place = by_part[poorest][next[poorest]++];
      given[poorest] += sentence_at(place).tokens;
    }
  }

  // Returns the index in the lists of all sentences.
  std::size_t at(const Place& place) const { return first_[place.stretch] + place.sentence; }

  const ScoredSentence& sentence_at(const Place& place) const {
    return evidence_.stretches[place.stretch].sentences[place.sentence];
  }

  std::string_view text_of(const Place& place) const {
    return evidence_.stretches[place.stretch].text_of(sentence_at(place));
  }

  // Returns whether it is left out even if there is room.
  bool is_weak(const Place& place) const {
    if (sentence_at(place).relevance < options_.least_relevance) return true;
    return taken_ >= options_.sure * evidence_.parts && place.score < options_.least_share * best_score_;
  }

  // Returns the cost of a passage that starts here, besides its text.
  Tokens apart(const Place& place) {
    if (!options_.render) return apart_;
    const DocumentHead& document = *evidence_.stretches[place.stretch].document;
    const std::uint32_t section = section_at(document.sections, sentence_at(place).span.start);
    const auto [known, is_new] = frames_.try_emplace({document.id, section}, 0);
    if (is_new) {
      SelectedPassage empty;
      empty.document = document.id;
      empty.key = document.key;
      empty.path = heading_or_title(document.sections, section, document.metadata);
      known->second = tokenizer_.count(options_.render(empty, 12));
    }
    return known->second;
  }

  Tokens tokens_of(const Place& place) {
    Tokens& known = tokens_[at(place)];
    if (known < 0) {
      known = options_.recount ? tokenizer_.count(text_of(place)) : sentence_at(place).tokens;
    }
    return known;
  }

  // Takes sentences by score for `room` more tokens. True: something was chosen.
  bool take(Tokens room) {
    bool came = false;
    for (const Place& place : order_) {
      if (room < least_room) break;
      const std::size_t here = at(place);
      if (chosen_[here] || given_up_[here]) continue;
      const Stretch& stretch = evidence_.stretches[place.stretch];
      const bool left = place.sentence > 0 && chosen_[here - 1] && continues(stretch, place.sentence);
      const bool right = place.sentence + 1 < stretch.sentences.size() && chosen_[here + 1] &&
                         continues(stretch, place.sentence + 1);
      if (!left && !right &&
          (is_heading(place) || (options_.most_passages && runs_ >= *options_.most_passages)))
        continue;
      Tokens cost = tokens_of(place) + apart(place) * (1 - (left ? 1 : 0) - (right ? 1 : 0));
      // A weak sentence between two chosen ones may cost less than a second passage.
      if (cost > 0 && is_weak(place)) continue;
      if (!left) cost += lead_tokens(place);
      if (cost > room) continue;
      Words words = words_of(text_of(place));
      if (repeats(words)) continue;
      said_.push_back({here, std::move(words)});
      chosen_[here] = true;
      cost_[here] = cost;
      room -= cost;
      taken_ += cost;
      runs_ = runs_ + 1 - (left ? 1 : 0) - (right ? 1 : 0);
      came = true;
    }
    return came;
  }

  // Returns whether it is the heading of its section, which the label has. Alone it is no evidence.
  bool is_heading(const Place& place) const {
    const auto& sections = evidence_.stretches[place.stretch].document->sections;
    const std::uint32_t section = section_at(sections, sentence_at(place).span.start);
    if (section == 0) return false;
    std::string_view text = text_of(place);
    text.remove_prefix(std::min(text.find_first_not_of("# "), text.size()));
    return base::trim(text) == sections[section].title;
  }

  // Returns whether a chosen sentence has the same words.
  bool repeats(const Words& words) const {
    constexpr std::size_t least = 4;  // "Yes." may occur twice
    return words.hashes.size() >= least &&
           std::ranges::any_of(said_, [&](const Said& other) { return same(words, other.words); });
  }

  // Counts the lead of a passage that starts here: a table's header, a definition's first line.
  Tokens lead_tokens(const Place& place) {
    const Stretch& stretch = evidence_.stretches[place.stretch];
    const std::string& lead = stretch.chunks[sentence_at(place).chunk]->chunk.lead;
    if (lead.empty()) return 0;
    const auto [known, is_new] = leads_.try_emplace(lead, 0);
    if (is_new) known->second = tokenizer_.count(lead) + 1;
    return known->second;
  }

  // A dropped sentence is not tried again: its cost was estimated too low.
  bool drop_weakest() {
    for (auto place = order_.rbegin(); place != order_.rend(); ++place) {
      if (!chosen_[at(*place)]) continue;
      chosen_[at(*place)] = false;
      given_up_[at(*place)] = true;
      take_stock();
      // Dropping from the middle splits a passage in two.
      if (options_.most_passages && runs_ > *options_.most_passages) continue;
      return true;
    }
    return false;
  }

  void give_up_since(const Chosen& before) {
    for (std::size_t i = 0; i < chosen_.size(); ++i)
      if (chosen_[i] && !before[i]) given_up_[i] = true;
    chosen_ = before;
    take_stock();
  }

  // Updates the words, tokens and runs of the chosen sentences.
  void take_stock() {
    std::erase_if(said_, [&](const Said& said) { return !chosen_[said.at]; });
    taken_ = 0;
    for (std::size_t i = 0; i < chosen_.size(); ++i) taken_ += chosen_[i] ? cost_[i] : 0;
    runs_ = 0;
    for (std::size_t s = 0; s < first_.size(); ++s) {
      const std::size_t end = first_[s] + evidence_.stretches[s].sentences.size();
      for (std::size_t i = first_[s]; i < end; ++i)
        if (chosen_[i] &&
            (i == first_[s] || !chosen_[i - 1] || !continues(evidence_.stretches[s], i - first_[s])))
          ++runs_;
    }
  }

  Selection write(Tokens names) const {
    return write_passages(evidence_, chosen_, tokenizer_, options_, names);
  }

  const Evidence& evidence_;
  const Tokenizer& tokenizer_;
  const SelectOptions& options_;
  std::vector<std::size_t> first_;  // per stretch: index of its first sentence in the lists
  std::vector<Tokens> tokens_;      // -1: not counted yet
  std::vector<Tokens> cost_;        // when it was chosen
  Chosen chosen_;
  Chosen given_up_;  // dropped
  std::map<std::string_view, Tokens> leads_;
  std::map<std::pair<DocumentId, std::uint32_t>, Tokens> frames_;  // by section
  std::vector<Place> order_;  // by score, or by the shares of the question's parts
  float best_score_ = 0;
  struct Said {
    std::size_t at;  // index of the sentence
    Words words;
  };
  std::vector<Said> said_;
  std::size_t runs_ = 0;
  Tokens taken_ = 0;  // estimated total
  Tokens apart_ = 0;  // cost of a separate passage
};

}  // namespace
}  // namespace plimsoll::render

namespace plimsoll {

Selection select_passages(const Evidence& evidence, const Tokenizer& tokenizer,
                          const SelectOptions& options) {
  return render::Selector(evidence, tokenizer, options).run();
}

}  // namespace plimsoll
