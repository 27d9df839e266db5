// Which sentences of the evidence are chosen.
//
// Greedy by score: the best sentence first, and on while they fit; one that does not fit is skipped. What
// joins a sentence that is chosen costs no label of its own. Then labels are written, the text is counted as
// it stands, and what the estimate got wrong is mended: too much, the weakest go; room left, the next come.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "base/text/words.hpp"
#include "plimsoll/passage.hpp"
#include "render/passages.hpp"

namespace plimsoll::render {
namespace {

// How often what is left of the budget is offered again. The estimate is good to a few tokens, so that later
// rounds find little.
constexpr int rounds = 4;
// Less room than this holds no sentence worth its label.
constexpr Tokens least_room = 6;
// Sentences that share nine words of ten say the same.
constexpr double same_share = 0.9;

struct Place {
  float score = 0;
  std::uint32_t stretch = 0;
  std::uint32_t sentence = 0;
};

// The words of a sentence as a set, with one bit a word in front: most pairs differ there already.
struct Words {
  std::uint64_t bits = 0;
  std::vector<std::uint64_t> hashes;  // ascending, each once
};

Words words_of(std::string_view text) {
  Words out;
  out.hashes.reserve(text.size() / 4);
  base::WordScanner scanner(text);
  while (scanner.next()) {
    const std::uint64_t hash = std::hash<std::string_view>{}(scanner.folded()) * 0x9e3779b97f4a7c15U;
    out.bits |= std::uint64_t{1} << (hash >> 58);
    out.hashes.push_back(hash);
  }
  std::sort(out.hashes.begin(), out.hashes.end());
  out.hashes.erase(std::unique(out.hashes.begin(), out.hashes.end()), out.hashes.end());
  return out;
}

bool same(const Words& a, const Words& b) {
  const std::size_t larger = std::max(a.hashes.size(), b.hashes.size());
  const std::size_t smaller = std::min(a.hashes.size(), b.hashes.size());
  if (static_cast<double>(smaller) < same_share * static_cast<double>(larger)) return false;
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
    chosen_.assign(order_.size(), false);
    given_up_.assign(order_.size(), false);
    std::ranges::stable_sort(order_, std::greater<>(), &Place::score);
    apart_ = options.labels ? tokenizer.count("\n[12] ") : tokenizer.count("\n");
  }

  Selection run() {
    if (options_.budget <= 0) return {};
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
    if (best.tokens > options_.budget) return {};
    for (SelectedPassage& passage : best.passages) passage.tokens = tokenizer_.count(passage.text);
    return best;
  }

 private:
  // In the lists of all sentences.
  std::size_t at(const Place& place) const { return first_[place.stretch] + place.sentence; }

  const ScoredSentence& sentence_at(const Place& place) const {
    return evidence_.stretches[place.stretch].sentences[place.sentence];
  }

  std::string_view text_of(const Place& place) const {
    return evidence_.stretches[place.stretch].text_of(sentence_at(place));
  }

  // Whether it stays out although there is room.
  bool is_weak(const Place& place) const {
    if (sentence_at(place).relevance < options_.least_relevance) return true;
    return taken_ >= options_.sure && place.score < options_.least_share * order_.front().score;
  }

  // What a passage that begins here costs beside its text.
  Tokens apart(const Place& place) {
    if (!options_.render) return apart_;
    const Stretch& stretch = evidence_.stretches[place.stretch];
    const StoredChunk& chunk = *stretch.chunks[sentence_at(place).chunk];
    const auto [known, is_new] = frames_.try_emplace({stretch.document->id, chunk.path}, 0);
    if (is_new) {
      SelectedPassage empty;
      empty.document = stretch.document->id;
      empty.key = stretch.document->key;
      empty.path = chunk.path;
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

  // Takes sentences by score into so many more tokens. True: something was chosen.
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
      if (!left && !right && options_.most_passages && runs_ >= *options_.most_passages) continue;
      Tokens cost = tokens_of(place) + apart(place) * (1 - (left ? 1 : 0) - (right ? 1 : 0));
      // A weak sentence between two that are in may be cheaper to keep than a second passage.
      if (cost > 0 && is_weak(place)) continue;
      if (!left) cost += lead_tokens(place);
      if (cost > room || repeats(place)) continue;
      chosen_[here] = true;
      room -= cost;
      taken_ += cost;
      runs_ = runs_ + 1 - (left ? 1 : 0) - (right ? 1 : 0);
      came = true;
    }
    return came;
  }

  // Whether a sentence that is chosen says the same. What repeats is remembered and not tried again.
  bool repeats(const Place& place) {
    Words words = words_of(text_of(place));
    if (words.hashes.size() < 4) return false;  // "Yes." may be said twice
    const auto found =
        std::ranges::find_if(said_, [&](const Said& other) { return same(words, other.words); });
    if (found != said_.end()) return true;
    said_.push_back({at(place), std::move(words)});
    return false;
  }

  // What stands before a passage that begins here: a table's header, a definition's first line.
  Tokens lead_tokens(const Place& place) {
    const Stretch& stretch = evidence_.stretches[place.stretch];
    const std::string& lead = stretch.chunks[sentence_at(place).chunk]->chunk.lead;
    if (lead.empty()) return 0;
    const auto [known, is_new] = leads_.try_emplace(lead, 0);
    if (is_new) known->second = tokenizer_.count(lead) + 1;
    return known->second;
  }

  // What is dropped is not tried again: its cost was estimated too low.
  bool drop_weakest() {
    for (auto place = order_.rbegin(); place != order_.rend(); ++place) {
      if (!chosen_[at(*place)]) continue;
      chosen_[at(*place)] = false;
      given_up_[at(*place)] = true;
      take_stock();
      // One out of the middle of a passage leaves two.
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

  // What is said and in how many runs, of those that are still chosen.
  void take_stock() {
    std::erase_if(said_, [&](const Said& said) { return !chosen_[said.at]; });
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
  std::vector<std::size_t> first_;  // by stretch: where its sentences begin in the lists of all
  std::vector<Tokens> tokens_;      // -1: not counted yet
  Chosen chosen_;
  Chosen given_up_;  // did not fit after all
  std::map<std::string_view, Tokens> leads_;
  std::map<std::pair<DocumentId, std::string_view>, Tokens> frames_;
  std::vector<Place> order_;  // by score
  struct Said {
    std::size_t at;  // of the sentence
    Words words;
  };
  std::vector<Said> said_;
  std::size_t runs_ = 0;
  Tokens taken_ = 0;  // by all that was taken, about
  Tokens apart_ = 0;  // what a passage costs that stands by itself
};

}  // namespace
}  // namespace plimsoll::render

namespace plimsoll {

Selection select_passages(const Evidence& evidence, const Tokenizer& tokenizer,
                          const SelectOptions& options) {
  return render::Selector(evidence, tokenizer, options).run();
}

}  // namespace plimsoll
