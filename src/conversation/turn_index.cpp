#include "conversation/turn_index.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

#include "base/text/sentences.hpp"
#include "base/text/text.hpp"
#include "base/text/words.hpp"
#include "conversation/date_words.hpp"

namespace plimsoll::conversation {
namespace {

// Fitted on every second question of LongMemEval, from the first on (docs/conversations.md).
struct Weights {
  double words_of_user = 4.6, words_of_model = 5.4;  // BM25 of the turn
  double part_of_model = 2.0;                        // BM25 of its best part
  double meaning = 7.1;                              // nearest sentence of the user
  double asked_before = 2.8;                         // the same of the question that an answer belongs to
  double by_user = 3.4;                              // users tell facts, answers repeat and elaborate
  double about_model = 4.5;                          // the question asks what the model said
  double near_words = 0.9, near_meaning = 1.9;       // best of the neighbours
  double number = 0.9;                               // the question asks how many, and the turn has a number
  double on_day = 5.1, in_period = 1.9;              // said when the question says
};
constexpr Weights weights;

constexpr std::size_t longest_part_bytes = 360;  // about 80 tokens of English
constexpr std::size_t reach = 10;                // messages on each side that are neighbours
constexpr std::int64_t pause_ms = std::int64_t{3} * 3600 * 1000;
constexpr double saturation = 1.2, length_share = 0.75;  // BM25's usual k1 and b
constexpr double farthest_from_best = 6;
constexpr double related_cosine = 0.25;
constexpr double unknown_cosine = 0.2;  // of a turn whose vectors are missing
constexpr std::size_t most_stems = 256;

std::set<std::string> stems_of(std::string_view question) {
  std::vector<base::Word> words;
  base::read_words(question, words);
  const bool all = std::ranges::all_of(words, &base::Word::stop);
  std::set<std::string> stems;
  for (base::Word& word : words) {
    if (stems.size() == most_stems) break;
    if (all || !word.stop) stems.insert(std::move(word.stem));
  }
  return stems;
}

std::vector<std::string> folded_words(std::string_view text) {
  constexpr std::size_t most = 200;
  std::vector<std::string> words;
  for (base::WordScanner scanner(text); words.size() < most && scanner.next();)
    words.emplace_back(scanner.folded());
  return words;
}

template <typename List>
bool begins_with_any(std::string_view word, const List& list) {
  return std::ranges::any_of(list, [&](std::string_view one) { return word.starts_with(one); });
}

// "What did you recommend?", "remind me", "in our last conversation"
bool asks_about_the_model(const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 15> said{"told",    "said",   "mention", "recommend", "suggest",
                                                  "provid",  "gave",   "list",    "wrote",     "explain",
                                                  "describ", "shared", "created", "made",      "came"};
  constexpr std::array<std::string_view, 4> earlier{"previous", "last", "earlier", "past"};
  constexpr std::array<std::string_view, 4> talk{"conversation", "chat", "discussion", "session"};
  constexpr std::array<std::string_view, 3> talked{"discuss", "talked", "chatted"};
  constexpr std::array<std::string_view, 5> answers{"answer", "list", "suggestion", "recommendation",
                                                    "response"};
  const auto at = [&](std::size_t i) {
    return i < words.size() ? std::string_view(words[i]) : std::string_view();
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i], next = at(i + 1), third = at(i + 2);
    if (word == "you" && (begins_with_any(next, said) || begins_with_any(third, said) || next == "recall"))
      return true;
    if (base::is_among(earlier, word) && begins_with_any(next, talk)) return true;
    if (word == "remind" && next == "me") return true;
    if (word == "did" && next == "you") return true;
    if (word == "we" && (begins_with_any(next, talked) || begins_with_any(third, talked))) return true;
    if (word == "your" && begins_with_any(next, answers)) return true;
    if ((word == "going" || word == "looking") && next == "back") return true;
    if (word.starts_with("follow") && next == "up" && third == "on") return true;
  }
  return false;
}

bool asks_for_a_number(const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 6> after_how{"many", "much", "long", "old", "often", "far"};
  constexpr std::array<std::string_view, 5> amounts{"total", "percentage", "average", "price", "cost"};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view next = i + 1 < words.size() ? std::string_view(words[i + 1]) : std::string_view();
    if (words[i] == "how" && base::is_among(after_how, next)) return true;
    if (words[i] == "what" && next == "time") return true;
    if (base::is_among(amounts, words[i])) return true;
  }
  return false;
}

bool is_number(std::string_view folded) {
  constexpr std::array<std::string_view, 15> named{"one",   "two",   "three", "four", "five",
                                                   "six",   "seven", "eight", "nine", "ten",
                                                   "twice", "once",  "dozen", "half", "couple"};
  return std::ranges::any_of(folded, base::is_digit) || base::is_among(named, folded);
}

// Where each part of a text begins: whole sentences, as many as fit into longest_part_bytes.
std::vector<std::uint32_t> part_starts(std::string_view text) {
  std::vector<std::uint32_t> starts;
  for (const Span& sentence : turn_sentences(text))
    if (starts.empty() || sentence.end > starts.back() + longest_part_bytes)
      starts.push_back(static_cast<std::uint32_t>(sentence.start));
  if (starts.empty()) starts.push_back(0);
  starts.front() = 0;
  return starts;
}

struct Nearest {
  double cosine = 0;
  std::size_t sentence = 0;
};

Nearest nearest_in(const SentenceVectors& question, const SentenceVectors& turn) {
  const std::size_t dimensions = question.size();
  Nearest best;
  for (std::size_t i = 0; (i + 1) * dimensions <= turn.size(); ++i) {
    const std::int8_t* const values = turn.data() + i * dimensions;
    const int sum = std::transform_reduce(question.begin(), question.end(), values, 0, std::plus<>(),
                                          [](std::int8_t a, std::int8_t b) { return int{a} * int{b}; });
    const double cosine = sum / (127.0 * 127.0);
    if (cosine > best.cosine) best = {cosine, i};
  }
  return best;
}

double rarity(double all, double holders) {
  return std::log(1 + (all - holders + 0.5) / (holders + 0.5));
}

double bm25(double times, double words, double usual) {
  return times * (saturation + 1) / (times + saturation * (1 - length_share + length_share * words / usual));
}

}  // namespace

std::vector<Span> turn_sentences(std::string_view text) {
  std::vector<Span> found, cut;
  base::add_sentences(text, {0, text.size()}, /*wrapped=*/false, found);
  for (const Span& sentence : found) {  // text without sentences is cut at blanks
    std::uint64_t start = sentence.start;
    while (sentence.end - start > longest_part_bytes) {
      std::uint64_t end = text.find_last_of(" \t", start + longest_part_bytes);
      if (end == std::string_view::npos || end <= start) end = start + longest_part_bytes;
      while (end > start + 1 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
        --end;  // inside a letter
      cut.push_back({start, end});
      start = end;
    }
    cut.push_back({start, sentence.end});
  }
  return cut;
}

SentenceVectors packed_vectors(std::span<const float> values) {
  SentenceVectors packed;
  packed.reserve(values.size());
  for (const float value : values)
    packed.push_back(static_cast<std::int8_t>(std::lround(std::clamp(value, -1.0F, 1.0F) * 127)));
  return packed;
}

void TurnIndex::add(const SaidTurn& turn) {
  const auto number = static_cast<std::uint32_t>(turns_.size());
  std::uint32_t episode = 0;
  if (!turns_.empty()) {
    const SaidTurn& last = turns_.back();
    const bool pauses = turn.at_ms > 0 && last.at_ms > 0 && turn.at_ms - last.at_ms > pause_ms;
    episode = episodes_.back() + (turn.group != last.group || pauses ? 1 : 0);
  }
  turns_.push_back(turn);
  episodes_.push_back(episode);
  first_part_.push_back(static_cast<std::uint32_t>(parts_.size()));
  for (const std::uint32_t start : part_starts(turn.text)) parts_.push_back({number, start, 0});
  std::uint32_t part = first_part_.back();
  float all = 0;
  bool has_number = false;
  for (base::WordScanner scanner(turn.text); scanner.next();) {
    has_number = has_number || is_number(scanner.folded());
    while (part + 1 < parts_.size() && scanner.start() >= parts_[part + 1].start) ++part;
    const base::StemmedWord word = base::stem_word(scanner.folded());
    if (word.stop) continue;
    ++all;
    ++parts_[part].words;
    std::vector<Posting>& list = postings_[std::string(word.stem)];
    if (!list.empty() && list.back().part == part)
      ++list.back().times;
    else
      list.push_back({part, 1});
  }
  words_.push_back(all);
  has_number_.push_back(has_number);
  all_words_ += static_cast<double>(all);
}

TurnIndex::WordScores TurnIndex::score_words(std::string_view question) const {
  WordScores scores;
  scores.turns.assign(turns_.size(), 0);
  scores.parts.assign(turns_.size(), 0);
  scores.best = first_part_;
  const auto turns = static_cast<double>(turns_.size()), parts = static_cast<double>(parts_.size());
  const double usual_turn = std::max(1.0, all_words_ / turns), usual_part = std::max(1.0, all_words_ / parts);
  std::vector<double> of_parts(parts_.size(), 0);
  double mass = 0;
  for (const std::string& stem : stems_of(question)) {
    const auto found = postings_.find(stem);
    if (found == postings_.end()) {
      mass += rarity(turns, 0);
      continue;
    }
    const std::vector<Posting>& list = found->second;
    double holders = 0;
    for (std::size_t i = 0; i < list.size(); ++i)
      if (i == 0 || parts_[list[i].part].turn != parts_[list[i - 1].part].turn) ++holders;
    const double rare = rarity(turns, holders), rare_part = rarity(parts, static_cast<double>(list.size()));
    mass += rare;
    for (std::size_t i = 0; i < list.size();) {
      const std::uint32_t turn = parts_[list[i].part].turn;
      double times = 0;
      for (; i < list.size() && parts_[list[i].part].turn == turn; ++i) {
        times += list[i].times;
        of_parts[list[i].part] +=
            rare_part * bm25(list[i].times, static_cast<double>(parts_[list[i].part].words), usual_part);
      }
      scores.turns[turn] += rare * bm25(times, static_cast<double>(words_[turn]), usual_turn);
    }
  }
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const std::uint32_t turn = parts_[part].turn;
    if (of_parts[part] <= scores.parts[turn]) continue;
    scores.parts[turn] = of_parts[part];
    scores.best[turn] = static_cast<std::uint32_t>(part);
  }
  if (mass == 0) return scores;
  for (std::size_t turn = 0; turn < turns_.size(); ++turn) {
    scores.turns[turn] /= mass;
    scores.parts[turn] /= mass;
  }
  return scores;
}

namespace {

// The best value of other turns within reach in the same episode.
std::vector<double> best_nearby(const std::vector<double>& values,
                                const std::vector<std::uint32_t>& episodes) {
  std::vector<double> best(values.size(), 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t end = std::min(values.size(), i + reach + 1);
    for (std::size_t other = i + 1; other < end && episodes[other] == episodes[i]; ++other) {
      best[i] = std::max(best[i], values[other]);
      best[other] = std::max(best[other], values[i]);
    }
  }
  return best;
}

void best_first(std::vector<RankedTurn>& ranked) {
  std::ranges::stable_sort(ranked, std::greater<>(), &RankedTurn::score);
}

}  // namespace

std::vector<RankedTurn> TurnIndex::rank(const TurnQuestion& question) const {
  std::vector<RankedTurn> ranked;
  if (turns_.empty()) return ranked;
  const WordScores words = score_words(question.text);
  const std::vector<std::string> folded = folded_words(question.text);
  const bool about_model = asks_about_the_model(folded), wants_number = asks_for_a_number(folded);
  const std::vector<DayRange> days =
      question.at_ms > 0 ? days_named(question.text, day_of(question.at_ms)) : std::vector<DayRange>();
  const bool by_meaning = !question.vector.empty() && question.meanings.size() == turns_.size();
  std::vector<Nearest> nearest(turns_.size());
  std::vector<double> cosines(turns_.size(), 0);
  for (std::size_t i = 0; by_meaning && i < turns_.size(); ++i) {
    if (!turns_[i].by_user) continue;
    nearest[i] = question.meanings[i].empty() ? Nearest{unknown_cosine, 0}
                                              : nearest_in(question.vector, question.meanings[i]);
    cosines[i] = nearest[i].cosine;
  }
  const std::vector<double> near_words = best_nearby(words.parts, episodes_);
  const std::vector<double> near_meaning = best_nearby(cosines, episodes_);
  for (std::size_t i = 0; i < turns_.size(); ++i) {
    const SaidTurn& turn = turns_[i];
    const bool answers = !turn.by_user && i > 0 && episodes_[i - 1] == episodes_[i];
    const double asked = answers ? cosines[i - 1] : 0;
    if (words.turns[i] == 0 && std::max(cosines[i], asked) < related_cosine) continue;
    double score = weights.near_words * near_words[i] + weights.near_meaning * near_meaning[i];
    if (turn.by_user) {
      score += weights.words_of_user * words.turns[i] + weights.meaning * cosines[i] + weights.by_user;
      if (wants_number && has_number_[i]) score += weights.number;
    } else {
      score += weights.words_of_model * words.turns[i] + weights.part_of_model * words.parts[i] +
               weights.asked_before * asked + (about_model ? weights.about_model : 0);
    }
    double on_days = 0;
    for (const DayRange& range : days)
      if (turn.at_ms > 0 && range.has(day_of(turn.at_ms)))
        on_days = std::max(on_days, range.is_narrow() ? weights.on_day : weights.in_period);
    std::uint64_t focus = parts_[words.best[i]].start;
    if (turn.by_user && by_meaning && !question.meanings[i].empty()) {
      const std::vector<Span> sentences = turn_sentences(turn.text);
      if (nearest[i].sentence < sentences.size()) focus = sentences[nearest[i].sentence].start;
    }
    ranked.push_back({i, score + on_days, focus});
  }
  best_first(ranked);
  // What scores far below the best turn does not answer the question.
  const auto end = std::ranges::find_if(
      ranked, [&](const RankedTurn& one) { return one.score < ranked.front().score - farthest_from_best; });
  ranked.erase(end, ranked.end());
  return ranked;
}

std::vector<RankedTurn> TurnIndex::rank_by_words(std::string_view question) const {
  std::vector<RankedTurn> ranked;
  if (turns_.empty()) return ranked;
  const WordScores words = score_words(question);
  for (std::size_t i = 0; i < turns_.size(); ++i)
    if (words.turns[i] > 0) ranked.push_back({i, words.turns[i], 0});
  best_first(ranked);
  return ranked;
}

}  // namespace plimsoll::conversation
