#include "retrieve/score.hpp"

#include <algorithm>
#include <bitset>
#include <cmath>
#include <unordered_map>

#include "retrieve/chunk_cache.hpp"
#include "retrieve/vector_loops.hpp"

namespace plimsoll::retrieve {
namespace {

// Sentences that a chunk of the index has, about: document frequencies are known by chunk, and are as good
// as by sentence if the number of sentences is right within a factor.
constexpr float sentences_per_chunk = 8;
constexpr float saturation = 1.2F, length_share = 0.75F;
// Saturation of the words nearby: many of one word do not outweigh one of another.
constexpr float nearby_k = 0.8F;

// A table by sentence and query term.
class Matrix {
 public:
  Matrix(std::size_t rows, std::size_t columns) : columns_(columns), values_(rows * columns) {}
  float* row(std::size_t i) { return values_.data() + i * columns_; }
  const float* row(std::size_t i) const { return values_.data() + i * columns_; }
  std::size_t columns() const { return columns_; }

 private:
  std::size_t columns_;
  std::vector<float> values_;
};

// The parts of the scores, by sentence of all stretches in a row, before they are scaled. Lists for all of
// them and not for each: a query looks at a hundred stretches of ten sentences.
struct Parts {
  explicit Parts(std::size_t sentences)
      : nearby_words(sentences),
        own_words(sentences),
        chunk_words(sentences),
        own_meaning(sentences),
        near_meaning(sentences),
        far_meaning(sentences),
        chunk_meaning(sentences),
        words(sentences) {}

  std::vector<float> nearby_words, own_words, chunk_words;
  std::vector<float> own_meaning, near_meaning, far_meaning, chunk_meaning;
  std::vector<std::uint64_t> words;
};

// How far apart the middles of a sentence and the one before it are, in tokens.
std::vector<float> gaps(const StretchInput& stretch) {
  std::vector<float> out(stretch.sentences.size());
  for (std::size_t i = 1; i < out.size(); ++i) {
    out[i] = static_cast<float>(stretch.sentences[i - 1].tokens + stretch.sentences[i].tokens) / 2;
  }
  return out;
}

struct WordCounts {
  Matrix by_term;
  std::vector<float> length;  // words that are no stop words
};

// The query's terms by stem_hash. Nearly all words of a document are none of them, which a bit tells.
class Terms {
 public:
  explicit Terms(std::span<const QueryTerm> terms) {
    for (const QueryTerm& term : terms) {
      const std::uint64_t stem = stem_hash(term.term);
      places_.emplace(stem, places_.size());
      may_be_[stem % may_be_.size()] = true;
    }
  }

  std::size_t size() const { return places_.size(); }

  // Its place in the query; size(): it is none of them.
  std::size_t place_of(std::uint64_t stem) const {
    if (!may_be_[stem % may_be_.size()]) return size();
    const auto place = places_.find(stem);
    return place == places_.end() ? size() : place->second;
  }

 private:
  std::unordered_map<std::uint64_t, std::size_t> places_;
  std::bitset<4096> may_be_;
};

WordCounts count_words(const StretchInput& stretch, const Terms& terms) {
  WordCounts out{Matrix(stretch.sentences.size(), terms.size()),
                 std::vector<float>(stretch.sentences.size())};
  for (std::size_t i = 0; i < stretch.sentences.size(); ++i) {
    out.length[i] = static_cast<float>(stretch.words[i].size());
    for (const std::uint64_t word : stretch.words[i]) {
      const std::size_t place = terms.place_of(word);
      if (place < terms.size()) ++out.by_term.row(i)[place];
    }
  }
  return out;
}

// Each row with those before it and, at a discount, those after it, fading with their distance.
Matrix smoothed(const Matrix& counts, std::span<const float> gap, float reach, float after) {
  Matrix out = counts;
  std::vector<float> carried(counts.columns());
  for (std::size_t i = 1; i < gap.size(); ++i)
    loops().carry(carried.data(), counts.row(i - 1), std::exp(-gap[i] / reach), 1, out.row(i),
                  carried.size());
  std::fill(carried.begin(), carried.end(), 0.0F);
  for (std::size_t i = gap.size(); i-- > 1;)
    loops().carry(carried.data(), counts.row(i), std::exp(-gap[i] / reach), after, out.row(i - 1),
                  carried.size());
  return out;
}

float bm25(const float* counts, std::span<const float> weight, float length, float average) {
  float sum = 0;
  const float norm = saturation * (1 - length_share + length_share * length / std::max(average, 1.0F));
  for (std::size_t t = 0; t < weight.size(); ++t)
    sum += weight[t] * counts[t] * (saturation + 1) / (counts[t] + norm);
  return sum;
}

struct TermWeights {
  std::vector<float> by_chunk, by_sentence;
};

TermWeights term_weights(const QueryInput& query) {
  TermWeights out;
  const auto chunks = static_cast<float>(query.index_chunks);
  for (const QueryTerm& term : query.terms) {
    out.by_chunk.push_back(term.idf);
    // idf = ln((chunks + 1) / (frequency + .5)), solved for the frequency.
    const float frequency = std::max(0.0F, (chunks + 1) / std::exp(term.idf) - 0.5F);
    out.by_sentence.push_back(std::log((chunks * sentences_per_chunk + 1) / (frequency + 0.5F)));
  }
  return out;
}

// `first`: where the stretch's sentences begin in the parts; `gap`: as gaps() has it.
void score_words(const QueryInput& query, const TermWeights& weight, const StretchInput& stretch,
                 std::span<const float> gap, const Terms& terms, const Weights& weights, Parts& parts,
                 std::size_t first) {
  const std::size_t sentences = stretch.sentences.size();
  const WordCounts counts = count_words(stretch, terms);
  const Matrix nearby = smoothed(counts.by_term, gap, weights.words_reach, weights.word_after);
  Matrix by_chunk(stretch.chunks, terms.size());
  std::vector<float> chunk_length(stretch.chunks);
  for (std::size_t i = 0; i < sentences; ++i) {
    float sum = 0;
    std::uint64_t has = 0;
    for (std::size_t t = 0; t < terms.size(); ++t) {
      const float near = nearby.row(i)[t];
      sum += weight.by_sentence[t] * near * (1 + nearby_k) / (near + nearby_k);
      by_chunk.row(stretch.chunk_of[i])[t] += counts.by_term.row(i)[t];
      if (counts.by_term.row(i)[t] > 0) has |= std::uint64_t{1} << t;
    }
    chunk_length[stretch.chunk_of[i]] += counts.length[i];
    parts.nearby_words[first + i] = sum;
    parts.words[first + i] = has;
    parts.own_words[first + i] = bm25(counts.by_term.row(i), weight.by_sentence, counts.length[i],
                                      query.average_words / sentences_per_chunk);
  }
  std::vector<float> of_chunk(stretch.chunks);
  for (std::size_t c = 0; c < stretch.chunks; ++c) {
    of_chunk[c] = bm25(by_chunk.row(c), weight.by_chunk, chunk_length[c], query.average_words);
  }
  for (std::size_t i = 0; i < sentences; ++i) parts.chunk_words[first + i] = of_chunk[stretch.chunk_of[i]];
}

std::vector<float> lengths(const Matrix& vectors, std::size_t rows) {
  std::vector<float> out(rows);
  for (std::size_t i = 0; i < rows; ++i)
    out[i] = std::sqrt(loops().dot(vectors.row(i), vectors.row(i), vectors.columns()));
  return out;
}

// Adds to `to` the share of the cosine of the query with each sentence's surroundings: the vectors around it,
// fading with their distance. The product of a sum with the query is the sum of the products.
void add_surroundings(float* to, float share, const Matrix& products, std::span<const float> gap, float reach,
                      const std::vector<float>& norms) {
  const Matrix sums = smoothed(products, gap, reach, 1);
  for (std::size_t i = 0; i < gap.size(); ++i) to[i] += norms[i] > 0 ? share * (*sums.row(i) / norms[i]) : 0;
}

// The chunk's vector is the mean of its sentences', by their tokens.
void add_chunk_cosines(float* to, float share, const Matrix& products, const StretchInput& stretch,
                       const std::vector<float>& norms) {
  std::vector<float> cosine(stretch.chunks);
  for (std::size_t i = 0; i < stretch.sentences.size(); ++i)
    cosine[stretch.chunk_of[i]] += static_cast<float>(stretch.sentences[i].tokens) * *products.row(i);
  for (std::size_t c = 0; c < stretch.chunks; ++c) cosine[c] = norms[c] > 0 ? cosine[c] / norms[c] : 0;
  for (std::size_t i = 0; i < stretch.sentences.size(); ++i) to[i] += share * cosine[stretch.chunk_of[i]];
}

// `unpacked` is only there to be written over.
void score_meaning(const QueryInput& query, const StretchInput& stretch, std::span<const float> gap,
                   const Weights& weights, Parts& parts, std::size_t first, std::vector<float>& unpacked) {
  const float share = 1 / static_cast<float>(query.vectors.size());
  const auto norms =
      stretch.norms ? stretch.norms : std::make_shared<const ChunkCache::Norms>(norms_of(stretch, weights));
  for (std::size_t e = 0; e < query.vectors.size(); ++e) {
    const auto vector = query.vectors[e];
    const StretchNorms& known = (*norms)[e];
    unpacked.assign(vector.size(), 0);
    Matrix own(stretch.sentences.size(), 1);
    for (std::size_t i = 0; i < stretch.sentences.size(); ++i) {
      const PackedVector packed = stretch.vectors[e][i];
      loops().unpack(packed.values.data(), packed.scale, unpacked.data(),
                     std::min(packed.values.size(), unpacked.size()));
      *own.row(i) = loops().dot(unpacked.data(), vector.data(), vector.size());
      parts.own_meaning[first + i] += share * *own.row(i);
    }
    add_surroundings(&parts.near_meaning[first], share, own, gap, weights.near_reach, known.near);
    add_surroundings(&parts.far_meaning[first], share, own, gap, weights.far_reach, known.far);
    add_chunk_cosines(&parts.chunk_meaning[first], share, own, stretch, known.chunk);
  }
}

// One part of all scores, scaled: words by their largest, cosines from their least to their largest. So a
// query's best is 1 whatever it is, and parts can be added.
void add_scaled(std::vector<float>& scores, const std::vector<float>& part, float weight, bool from_least) {
  if (part.empty()) return;
  const auto [lowest, highest] = std::minmax_element(part.begin(), part.end());
  const float least = from_least ? *lowest : 0;
  const float most = *highest;
  if (!(most > least)) return;
  for (std::size_t i = 0; i < part.size(); ++i) scores[i] += weight * (part[i] - least) / (most - least);
}

// A sentence gains from good neighbours; the sum is brought back to 0 .. 1.
void share_with_neighbours(std::vector<ScoredSentence>& sentences, float share, float scale) {
  float before = 0;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const float own = sentences[i].score;
    const float after = i + 1 < sentences.size() ? sentences[i + 1].score : 0;
    sentences[i].score = (own + share * (before + after)) * scale;
    before = own;
  }
}

}  // namespace

std::vector<StretchNorms> norms_of(const StretchInput& stretch, const Weights& weights) {
  const std::vector<float> gap = gaps(stretch);
  const std::size_t sentences = stretch.sentences.size();
  std::vector<StretchNorms> out;
  for (const std::vector<PackedVector>& packed : stretch.vectors) {
    const std::size_t n = packed.empty() ? 0 : packed.front().values.size();
    Matrix vectors(sentences, n);
    Matrix by_chunk(stretch.chunks, n);
    for (std::size_t i = 0; i < sentences; ++i) {
      float* row = vectors.row(i);
      loops().unpack(packed[i].values.data(), packed[i].scale, row, std::min(packed[i].values.size(), n));
      const auto tokens = static_cast<float>(stretch.sentences[i].tokens);
      float* sum = by_chunk.row(stretch.chunk_of[i]);
      for (std::size_t d = 0; d < n; ++d) sum[d] += tokens * row[d];
    }
    out.push_back({lengths(smoothed(vectors, gap, weights.near_reach, 1), sentences),
                   lengths(smoothed(vectors, gap, weights.far_reach, 1), sentences),
                   lengths(by_chunk, stretch.chunks)});
  }
  return out;
}

std::vector<std::vector<ScoredSentence>> score_sentences(const QueryInput& query,
                                                         std::span<const StretchInput> stretches,
                                                         const Weights& weights) {
  const Terms terms(query.terms);
  const TermWeights weight = term_weights(query);

  std::size_t sentences = 0;
  for (const StretchInput& stretch : stretches) sentences += stretch.sentences.size();
  Parts parts(sentences);
  std::vector<float> unpacked;
  std::size_t first = 0;
  for (const StretchInput& stretch : stretches) {
    const std::vector<float> gap = gaps(stretch);
    score_words(query, weight, stretch, gap, terms, weights, parts, first);
    if (!query.vectors.empty() && !gap.empty())
      score_meaning(query, stretch, gap, weights, parts, first, unpacked);
    first += gap.size();
  }
  std::vector<float> sums(sentences);
  add_scaled(sums, parts.nearby_words, weights.nearby_words, false);
  add_scaled(sums, parts.own_words, weights.own_words, false);
  add_scaled(sums, parts.chunk_words, weights.chunk_words, false);
  if (!query.vectors.empty()) {
    add_scaled(sums, parts.own_meaning, weights.own_meaning, true);
    add_scaled(sums, parts.near_meaning, weights.near_meaning, true);
    add_scaled(sums, parts.far_meaning, weights.far_meaning, true);
    add_scaled(sums, parts.chunk_meaning, weights.chunk_meaning, true);
  }

  float most = weights.nearby_words + weights.own_words + weights.chunk_words;
  if (!query.vectors.empty()) {
    most += weights.own_meaning + weights.near_meaning + weights.far_meaning + weights.chunk_meaning;
  }
  std::vector<std::vector<ScoredSentence>> scores(stretches.size());
  first = 0;
  for (std::size_t s = 0; s < stretches.size(); ++s) {
    const StretchInput& stretch = stretches[s];
    scores[s].reserve(stretch.sentences.size());
    for (std::size_t i = 0; i < stretch.sentences.size(); ++i)
      scores[s].push_back({.span = stretch.sentences[i].span,
                           .tokens = stretch.sentences[i].tokens,
                           .score = sums[first + i],
                           .meaning = parts.own_meaning[first + i],
                           .words = parts.words[first + i],
                           .chunk = stretch.chunk_of[i]});
    share_with_neighbours(scores[s], weights.neighbour, 1 / (most * (1 + 2 * weights.neighbour)));
    first += stretch.sentences.size();
  }
  return scores;
}

}  // namespace plimsoll::retrieve
