#include "conversation/extract_summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <queue>
#include <string>
#include <unordered_map>

#include "base/text/words.hpp"

namespace plimsoll::conversation {
namespace {

using Terms = std::vector<std::uint32_t>;  // unique, ascending

// Returns the extra weight of words that cannot be guessed: names, and numbers (less for long ones).
double telling_weight(std::string_view shown, bool first) {
  constexpr double digit = 0.9, name = 2;
  constexpr std::size_t longest = 6;
  if (std::ranges::any_of(shown, [](char c) { return c >= '0' && c <= '9'; }))
    return digit * static_cast<double>(std::min(shown.size(), longest));
  return !first && !shown.empty() && shown[0] >= 'A' && shown[0] <= 'Z' ? name : 0;
}

class Vocabulary {
 public:
  Terms read(std::string_view text) {
    Terms terms;
    base::read_words(text, words_);
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const base::Word& word = words_[i];
      if (word.stop) continue;
      const auto [found, is_new] = ids_.try_emplace(word.stem, static_cast<std::uint32_t>(ids_.size()));
      if (is_new) {
        sentences_.push_back(0);
        telling_.push_back(0);
      }
      const std::uint32_t id = found->second;
      terms.push_back(id);
      telling_[id] =
          std::max(telling_[id], telling_weight(text.substr(word.start, word.end - word.start), i == 0));
    }
    std::ranges::sort(terms);
    terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
    for (const std::uint32_t id : terms) ++sentences_[id];
    return terms;
  }

  // Frequent words weigh more, with diminishing returns.
  double weight(std::uint32_t id) const { return 1 + std::log(sentences_[id]) + telling_[id]; }
  std::size_t size() const { return sentences_.size(); }

 private:
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<double> sentences_;  // with this word
  std::vector<double> telling_;
  std::vector<base::Word> words_;
};

double speaker_factor(const SaidSentence& sentence) {
  const bool asks = sentence.text.ends_with('?') || sentence.text.ends_with("\xEF\xBC\x9F");
  double factor = asks ? 0.5 : 1;  // the answer is more informative
  if (sentence.by_user) factor *= 1.3;
  if (sentence.is_kept) factor *= 1.5;
  return factor;
}

// Takes the best sentences while they fit. A sentence's gain only decreases as others are taken, so one that
// is still first after its gain is updated is the best.
class Choice {
 public:
  Choice(std::span<const SaidSentence> sentences, Tokens limit) : sentences_(sentences), left_(limit) {
    for (const SaidSentence& sentence : sentences) terms_.push_back(vocabulary_.read(sentence.text));
    covered_.assign(vocabulary_.size(), false);
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      whole_.push_back(added_by(i));
      if (whole_[i] > 0) queue_.emplace(worth(i, whole_[i]), ~i);
    }
  }

  std::vector<std::size_t> run() && {
    constexpr double least_new = 0.3;  // share of new words; below it, a sentence is a repetition
    while (!queue_.empty()) {
      const auto [before, flipped] = queue_.top();
      queue_.pop();
      const std::size_t i = ~flipped;
      if (sentences_[i].tokens > left_) continue;
      const double added = added_by(i), now = worth(i, added);
      if (added < least_new * whole_[i]) continue;
      if (now < before) {
        queue_.emplace(now, flipped);
        continue;
      }
      take(i);
    }
    std::ranges::sort(taken_);
    return std::move(taken_);
  }

 private:
  double added_by(std::size_t i) const {
    double sum = 0;
    for (const std::uint32_t id : terms_[i]) sum += covered_[id] ? 0 : vocabulary_.weight(id);
    return sum;
  }
  double worth(std::size_t i, double added) const {
    constexpr double label = 3;  // cost of a speaker label, so that short sentences are not free
    return added * speaker_factor(sentences_[i]) / (static_cast<double>(sentences_[i].tokens) + label);
  }
  void take(std::size_t i) {
    left_ -= sentences_[i].tokens;
    for (const std::uint32_t id : terms_[i]) covered_[id] = true;
    taken_.push_back(i);
  }

  std::span<const SaidSentence> sentences_;
  Tokens left_;
  Vocabulary vocabulary_;
  std::vector<Terms> terms_;
  std::vector<bool> covered_;
  std::vector<double> whole_;                                  // gain of each sentence alone
  std::priority_queue<std::pair<double, std::size_t>> queue_;  // earlier sentences first among equals
  std::vector<std::size_t> taken_;
};

}  // namespace

std::vector<std::size_t> best_sentences(std::span<const SaidSentence> sentences, Tokens limit) {
  return Choice(sentences, limit).run();
}

}  // namespace plimsoll::conversation
