#include "memory/search.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "base/text/words.hpp"

namespace plimsoll::memory {
namespace {

// For a very long query only the first words count: each costs memory per fact.
constexpr std::size_t most_stems = 256;

// Returns the stems of the query without stop words; all stems if there are only stop words.
std::vector<std::string> stems_of(std::string_view query) {
  std::vector<base::Word> words;
  base::read_words(query, words);
  const bool all = std::ranges::all_of(words, &base::Word::stop);
  std::set<std::string> stems;
  for (base::Word& word : words) {
    if (stems.size() == most_stems) break;
    if (all || !word.stop) stems.insert(std::move(word.stem));
  }
  return {stems.begin(), stems.end()};
}

std::vector<std::size_t> by_score(const std::vector<double>& scores) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (scores[i] > 0) places.push_back(i);
  std::ranges::stable_sort(places, std::greater<>(), [&](std::size_t i) { return scores[i]; });
  return places;
}

}  // namespace

std::vector<std::size_t> rank_by_words(std::string_view query, std::span<const HeldFact> facts) {
  constexpr double saturation = 1.2, length_share = 0.75;  // BM25's usual k1 and b
  const std::vector<std::string> stems = stems_of(query);
  if (stems.empty() || facts.empty()) return {};
  struct Seen {
    std::vector<std::uint32_t> times;
    double words = 0;
  };
  std::vector<Seen> seen(facts.size());
  std::vector<double> holders(stems.size(), 0);
  std::vector<base::Word> words;
  double all_words = 0;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    base::read_words(facts[i].fact.text, words);
    seen[i].times.assign(stems.size(), 0);
    seen[i].words = static_cast<double>(words.size());
    all_words += seen[i].words;
    for (const base::Word& word : words) {
      const auto found = std::ranges::lower_bound(stems, word.stem);
      if (found != stems.end() && *found == word.stem)
        ++seen[i].times[static_cast<std::size_t>(found - stems.begin())];
    }
    for (std::size_t k = 0; k < stems.size(); ++k)
      if (seen[i].times[k] > 0) ++holders[k];
  }
  const auto count = static_cast<double>(facts.size());
  const double usual = std::max(1.0, all_words / count);
  std::vector<double> scores(facts.size(), 0);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    for (std::size_t k = 0; k < stems.size(); ++k) {
      const auto times = static_cast<double>(seen[i].times[k]);
      if (times == 0) continue;
      const double rare = std::log(1 + (count - holders[k] + 0.5) / (holders[k] + 0.5));
      const double longer = 1 - length_share + length_share * seen[i].words / usual;
      scores[i] += rare * times * (saturation + 1) / (times + saturation * longer);
    }
  }
  return by_score(scores);
}

std::vector<std::size_t> rank_by_meaning(const FactVector& query, std::span<const HeldFact> facts) {
  std::vector<double> scores(facts.size(), 0);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const FactVector& vector = facts[i].vector;
    if (query.values.empty() || vector.embedder != query.embedder ||
        vector.values.size() != query.values.size())
      continue;
    const double cosine = std::inner_product(
        query.values.begin(), query.values.end(), vector.values.begin(), 0.0, std::plus<>(),
        [](float a, float b) { return static_cast<double>(a) * static_cast<double>(b); });
    if (cosine >= related_cosine) scores[i] = cosine;
  }
  return by_score(scores);
}

std::vector<SearchedFact> fuse(std::span<const std::size_t> by_words, std::span<const std::size_t> by_meaning,
                               std::span<const HeldFact> facts, bool all) {
  constexpr double damping = 60;  // the usual value: top ranks count about equally
  std::map<std::size_t, SearchedFact> found;
  const auto add = [&](std::span<const std::size_t> places, bool SearchedFact::*way) {
    for (std::size_t rank = 0; rank < places.size(); ++rank) {
      SearchedFact& one = found[places[rank]];
      one.fact = places[rank];
      one.score += 0.5 * (damping + 1) / (damping + 1 + static_cast<double>(rank));
      one.*way = true;
    }
  };
  add(by_words, &SearchedFact::by_words);
  add(by_meaning, &SearchedFact::by_meaning);
  std::vector<SearchedFact> out;
  for (const auto& [place, one] : found) out.push_back(one);
  std::ranges::stable_sort(out, std::greater<>(), &SearchedFact::score);
  if (!all) return out;
  const std::size_t related = out.size();
  for (std::size_t i = 0; i < facts.size(); ++i)
    if (!found.contains(i)) out.push_back({.fact = i});
  const auto before = [&](const SearchedFact& a, const SearchedFact& b) {
    const Fact &left = facts[a.fact].fact, &right = facts[b.fact].fact;
    return left.importance != right.importance ? left.importance > right.importance
                                               : left.updated_ms > right.updated_ms;
  };
  std::stable_sort(out.begin() + static_cast<std::ptrdiff_t>(related), out.end(), before);
  return out;
}

}  // namespace plimsoll::memory
