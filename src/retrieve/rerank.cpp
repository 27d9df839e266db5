#include "retrieve/rerank.hpp"

#include <algorithm>

#include "base/try.hpp"

namespace plimsoll::retrieve {
namespace {

// Consecutive sentences of one stretch.
struct Unit {
  std::size_t stretch = 0, begin = 0, end = 0;
  float score = 0;  // of its best sentence
};

std::vector<Unit> units_of(const Evidence& evidence, Tokens most_tokens) {
  std::vector<Unit> out;
  for (std::size_t s = 0; s < evidence.stretches.size(); ++s) {
    const auto& sentences = evidence.stretches[s].sentences;
    Tokens tokens = 0;
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      if (i == 0 || tokens + sentences[i].tokens > most_tokens) {
        out.push_back({s, i, i, 0});
        tokens = 0;
      }
      tokens += sentences[i].tokens;
      out.back().end = i + 1;
      out.back().score = std::max(out.back().score, sentences[i].score);
    }
  }
  return out;
}

}  // namespace

Result<void> rerank(std::string_view question, Reranker& reranker, const RerankOptions& options,
                    Deadline deadline, Evidence& evidence) {
  std::vector<Unit> units = units_of(evidence, options.unit_tokens);
  std::ranges::stable_sort(units, std::greater<>(), &Unit::score);
  if (units.size() > options.units) units.resize(options.units);
  if (units.empty() || units.front().score <= 0) return {};
  std::vector<std::string> texts;
  for (const Unit& unit : units) {
    const Stretch& stretch = evidence.stretches[unit.stretch];
    texts.push_back(stretch.text_within(
        {stretch.sentences[unit.begin].span.start, stretch.sentences[unit.end - 1].span.end}));
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  TRY(const std::vector<float> scores, reranker.score(question, views, deadline));
  if (scores.size() != units.size())
    return fail(Errc::unsupported, "the reranker '{}' gave {} scores for {} texts", reranker.name(),
                scores.size(), units.size());
  const float best = units.front().score;
  float highest = 0;
  for (std::size_t u = 0; u < units.size(); ++u) {
    auto& sentences = evidence.stretches[units[u].stretch].sentences;
    for (std::size_t i = units[u].begin; i < units[u].end; ++i)
      sentences[i].score += options.weight * best * scores[u];
  }
  for (const Stretch& stretch : evidence.stretches)
    for (const ScoredSentence& sentence : stretch.sentences) highest = std::max(highest, sentence.score);
  if (highest <= 0) return {};
  for (Stretch& stretch : evidence.stretches)
    for (ScoredSentence& sentence : stretch.sentences) sentence.score *= best / highest;
  return {};
}

}  // namespace plimsoll::retrieve
