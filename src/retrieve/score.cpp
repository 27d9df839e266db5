#include "retrieve/score.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>
#include <unordered_map>

#include "retrieve/chunk_cache.hpp"
#include "retrieve/vector_loops.hpp"

namespace plimsoll::retrieve {
namespace {

// Approximate sentences per chunk: document frequencies are known per chunk, and are good enough per sentence
// if this number is roughly right.
constexpr float sentences_per_chunk = 8;
constexpr float saturation = 1.2F, length_share = 0.75F;
// Saturation for nearby words: many repetitions of one word do not outweigh another word.
constexpr float nearby_k = 0.8F;

// A table with a row per sentence and a column per query term.
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

// The parts of the scores before scaling, for all sentences of all stretches. One list for all stretches:
// a query has about a hundred stretches of ten sentences.
struct Parts {
  explicit Parts(std::size_t sentences)
      : nearby_words(sentences),
        own_words(sentences),
        chunk_words(sentences),
        own_meaning(sentences),
        near_meaning(sentences),
        far_meaning(sentences),
        chunk_meaning(sentences),
        own_cosine(sentences),
        coverage(sentences),
        words(sentences) {}

  std::vector<float> nearby_words, own_words, chunk_words;
  std::vector<float> own_meaning, near_meaning, far_meaning, chunk_meaning;  // cosines, scaled by embedder
  std::vector<float> own_cosine;                                             // as it is
  std::vector<float> coverage;       // share of query words in and around the sentence, 0 to 1
  std::vector<std::uint64_t> words;  // bit mask of the query's words
};

// Returns the weight at this distance. The middles of two adjacent sentences are half their tokens apart.
float faded(Tokens both, float reach) {
  return std::exp(-(static_cast<float>(both) / 2) / reach);
}

template <typename T>
void fetch_ahead(std::span<const T> data) {
  constexpr std::size_t line = 64;
  const auto bytes = std::as_bytes(data);
  for (std::size_t at = 0; at < bytes.size(); at += line) __builtin_prefetch(bytes.data() + at);
}

// Prefetches the data of a chunk: embedding the query has evicted it from the CPU caches, and
// each chunk would cause a separate wait.
void fetch_ahead(const ReadChunk& chunk) {
  fetch_ahead(std::span(chunk.words.stems));
  for (const ChunkVectors& vectors : chunk.stored.vectors) fetch_ahead(std::span(vectors.sentences));
}

// The sentences of all stretches in one list.
struct Row {
  explicit Row(std::span<const StretchInput> stretches) {
    std::size_t sentences = 0;
    for (const StretchInput& stretch : stretches)
      for (const auto& chunk : stretch.chunks) {
        sentences += chunk->stored.chunk.sentences.size();
        fetch_ahead(*chunk);
      }
    tokens.reserve(sentences);
    both.reserve(sentences);
    chunk_of.reserve(sentences);
    for (const StretchInput& stretch : stretches) {
      bool opens = true;
      for (const auto& chunk : stretch.chunks) {
        for (const Sentence& sentence : chunk->stored.chunk.sentences) {
          both.push_back(opens ? -1 : tokens.back() + sentence.tokens);
          tokens.push_back(sentence.tokens);
          chunk_of.push_back(chunks);
          opens = false;
        }
        ++chunks;
      }
    }
  }

  std::size_t size() const { return tokens.size(); }

  // Returns for each sentence the weight of the previous one; 0 at the start of a stretch.
  std::vector<float> fades(float reach) const {
    std::array<float, 256> known{};  // covers nearly all sentence lengths
    for (std::size_t i = 0; i < known.size(); ++i) known[i] = faded(static_cast<Tokens>(i), reach);
    std::vector<float> out(both.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (both[i] < 0) continue;
      const auto place = static_cast<std::size_t>(both[i]);
      out[i] = place < known.size() ? known[place] : faded(both[i], reach);
    }
    return out;
  }

  std::vector<Tokens> tokens;
  std::vector<Tokens> both;  // tokens of a sentence and the previous one; -1: first of its stretch
  std::vector<std::uint32_t> chunk_of;
  std::uint32_t chunks = 0;
};

// The query's terms by stem_hash. A bit filter rejects most words of a document.
class Terms {
 public:
  explicit Terms(std::span<const QueryTerm> terms) {
    for (const QueryTerm& term : terms) {
      add(term.term);
      for (const std::string& other : term.others) add(other);
      ++terms_;
    }
  }

  std::size_t size() const { return terms_; }

  // Returns its position in the query; size(): not a query term.
  std::size_t place_of(std::uint64_t stem) const {
    if (!may_be_[stem % may_be_.size()]) return size();
    const auto place = places_.find(stem);
    return place == places_.end() ? size() : place->second;
  }

 private:
  void add(std::string_view term) {
    const std::uint64_t stem = stem_hash(term);
    places_.emplace(stem, terms_);
    may_be_[stem % may_be_.size()] = true;
  }

  std::size_t terms_ = 0;
  std::unordered_map<std::uint64_t, std::size_t> places_;
  std::bitset<4096> may_be_;
};

struct WordCounts {
  Matrix by_term;
  std::vector<float> length;  // words without stop words
};

WordCounts count_words(std::span<const StretchInput> stretches, std::size_t sentences, const Terms& terms) {
  WordCounts out{Matrix(sentences, terms.size()), std::vector<float>(sentences)};
  std::size_t i = 0;
  for (const StretchInput& stretch : stretches) {
    for (const auto& chunk : stretch.chunks) {
      for (std::size_t s = 0; s < chunk->stored.chunk.sentences.size(); ++s, ++i) {
        const auto words = chunk->words.of(s);
        out.length[i] = static_cast<float>(words.size());
        for (const std::uint64_t word : words) {
          const std::size_t place = terms.place_of(word);
          if (place < terms.size()) ++out.by_term.row(i)[place];
        }
      }
    }
  }
  return out;
}

// Adds to each row the rows before it and, with less weight, those after it, fading with distance.
Matrix smoothed(const Matrix& rows, std::span<const float> fade, float after) {
  Matrix out = rows;
  std::vector<float> carried(rows.columns());
  for (std::size_t i = 1; i < fade.size(); ++i)
    loops().carry(carried.data(), rows.row(i - 1), fade[i], 1, out.row(i), carried.size());
  std::fill(carried.begin(), carried.end(), 0.0F);
  for (std::size_t i = fade.size(); i-- > 1;)
    loops().carry(carried.data(), rows.row(i), fade[i], after, out.row(i - 1), carried.size());
  return out;
}

// The same for single values, with equal weight before and after.
std::vector<float> smoothed(const std::vector<float>& values, std::span<const float> fade) {
  std::vector<float> out = values;
  float carried = 0;
  for (std::size_t i = 1; i < fade.size(); ++i) {
    carried = (carried + values[i - 1]) * fade[i];
    out[i] += carried;
  }
  carried = 0;
  for (std::size_t i = fade.size(); i-- > 1;) {
    carried = (carried + values[i]) * fade[i];
    out[i - 1] += carried;
  }
  return out;
}

float bm25(const float* counts, std::span<const float> weight, float length, float average) {
  float sum = 0;
  const float norm = saturation * (1 - length_share + length_share * length / std::max(average, 1.0F));
  for (std::size_t t = 0; t < weight.size(); ++t)
    if (counts[t] > 0) sum += weight[t] * counts[t] * (saturation + 1) / (counts[t] + norm);
  return sum;
}

struct TermWeights {
  std::vector<float> by_chunk, by_sentence;
};

TermWeights term_weights(const QueryInput& query) {
  TermWeights out;
  const auto chunks = static_cast<float>(query.index_chunks);
  for (const QueryTerm& term : query.terms) {
    out.by_chunk.push_back(term.weight * term.idf);
    // idf = ln((chunks + 1) / (frequency + .5)), solved for the frequency.
    const float frequency = std::max(0.0F, (chunks + 1) / std::exp(term.idf) - 0.5F);
    out.by_sentence.push_back(term.weight *
                              std::log((chunks * sentences_per_chunk + 1) / (frequency + 0.5F)));
  }
  return out;
}

void score_words(const QueryInput& query, std::span<const StretchInput> stretches, const Row& row,
                 const Weights& weights, Parts& parts) {
  const Terms terms(query.terms);
  const TermWeights weight = term_weights(query);
  const WordCounts counts = count_words(stretches, row.size(), terms);
  const Matrix nearby = smoothed(counts.by_term, row.fades(weights.words_reach), weights.word_after);
  const auto is_own = [&](std::size_t t) { return query.terms[t].weight >= 1; };
  float all_words = 0;  // that name a subject
  float own_words = 0;  // of these, those of the question itself, without earlier turns
  for (std::size_t t = 0; t < terms.size(); ++t) {
    if (!query.is_subject(t)) continue;
    all_words += weight.by_sentence[t];
    if (is_own(t)) own_words += weight.by_sentence[t];
  }
  Matrix by_chunk(row.chunks, terms.size());
  std::vector<float> chunk_length(row.chunks);
  for (std::size_t i = 0; i < row.size(); ++i) {
    const float *near = nearby.row(i), *own = counts.by_term.row(i);
    float* of_chunk = by_chunk.row(row.chunk_of[i]);
    float sum = 0, covered = 0, own_covered = 0;
    std::uint64_t has = 0;
    for (std::size_t t = 0; t < terms.size(); ++t) {
      sum += weight.by_sentence[t] * near[t] * (1 + nearby_k) / (near[t] + nearby_k);
      const float share = query.is_subject(t) ? weight.by_sentence[t] * std::min(near[t], 1.0F) : 0.0F;
      covered += share;
      if (is_own(t)) own_covered += share;
      of_chunk[t] += own[t];
      if (own[t] > 0) has |= std::uint64_t{1} << t;
    }
    chunk_length[row.chunk_of[i]] += counts.length[i];
    parts.nearby_words[i] = sum;
    parts.coverage[i] = std::max(all_words > 0 ? covered / all_words : 0.0F,
                                 own_words > 0 ? (1 - query.dependence) * own_covered / own_words : 0.0F);
    parts.words[i] = has;
    parts.own_words[i] =
        bm25(own, weight.by_sentence, counts.length[i], query.average_words / sentences_per_chunk);
  }
  std::vector<float> of_chunk(row.chunks);
  for (std::size_t c = 0; c < row.chunks; ++c)
    of_chunk[c] = bm25(by_chunk.row(c), weight.by_chunk, chunk_length[c], query.average_words);
  for (std::size_t i = 0; i < row.size(); ++i) parts.chunk_words[i] = of_chunk[row.chunk_of[i]];
}

void add_lengths(std::vector<float>& out, const Matrix& vectors, std::size_t rows) {
  for (std::size_t i = 0; i < rows; ++i)
    out.push_back(std::sqrt(loops().dot(vectors.row(i), vectors.row(i), vectors.columns())));
}

// Returns the dot products of the query with each sentence of all stretches.
std::vector<float> products(const QueryInput& query, std::span<const StretchInput> stretches,
                            std::size_t sentences, std::size_t e) {
  const auto vector = query.vectors[e];
  std::vector<float> out;
  out.reserve(sentences);
  for (const StretchInput& stretch : stretches) {
    for (const auto& chunk : stretch.chunks) {
      const ChunkVectors& vectors = chunk->stored.vectors[query.embedders[e]];
      for (std::size_t s = 0; s < chunk->stored.chunk.sentences.size(); ++s) {
        const PackedVector packed = vectors.sentence(s);
        const std::size_t n = std::min(packed.values.size(), vector.size());
        out.push_back(packed.scale * loops().dot_packed(packed.values.data(), vector.data(), n));
      }
    }
  }
  return out;
}

// Returns one list of StretchNorms for all stretches.
std::vector<float> in_a_row(std::span<const StretchInput> stretches, std::size_t e, std::size_t size,
                            std::span<const float> (StretchNorms::*list)(std::size_t) const) {
  std::vector<float> out;
  out.reserve(size);
  for (const StretchInput& stretch : stretches) {
    const std::span<const float> norms = ((*stretch.norms).*list)(e);
    out.insert(out.end(), norms.begin(), norms.end());
  }
  return out;
}

// Adds the weighted cosine: the sum of products divided by the norm of the summed
// vectors.
void add_cosines(std::vector<float>& to, float share, const CosineScale& scale,
                 const std::vector<float>& sums, const std::vector<float>& norms) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += norms[i] > 0 ? share * scale(sums[i] / norms[i]) : 0;
}

// The context of a sentence is the sum of vectors around it, fading with distance; a chunk's vector is the
// token-weighted mean of its sentences. The product of a sum with the query is the sum of the
// products.
void score_meaning(const QueryInput& query, std::span<const StretchInput> stretches, const Row& row,
                   const Weights& weights, Parts& parts) {
  const float share = 1 / static_cast<float>(query.vectors.size());
  const auto near_fade = row.fades(weights.near_reach), far_fade = row.fades(weights.far_reach);
  for (std::size_t e = 0; e < query.vectors.size(); ++e) {
    const std::vector<float> own = products(query, stretches, row.size(), e);
    const CosineScale scale = query.scales.empty() ? CosineScale{} : query.scales[e];
    for (std::size_t i = 0; i < row.size(); ++i) {
      parts.own_cosine[i] += share * own[i];
      parts.own_meaning[i] += share * scale(own[i]);
    }
    add_cosines(parts.near_meaning, share, scale, smoothed(own, near_fade),
                in_a_row(stretches, e, row.size(), &StretchNorms::near));
    add_cosines(parts.far_meaning, share, scale, smoothed(own, far_fade),
                in_a_row(stretches, e, row.size(), &StretchNorms::far));
    std::vector<float> sums(row.chunks), cosines(row.chunks);
    for (std::size_t i = 0; i < row.size(); ++i)
      sums[row.chunk_of[i]] += static_cast<float>(row.tokens[i]) * own[i];
    add_cosines(cosines, share, scale, sums, in_a_row(stretches, e, row.chunks, &StretchNorms::chunk));
    for (std::size_t i = 0; i < row.size(); ++i) parts.chunk_meaning[i] += cosines[row.chunk_of[i]];
  }
}

// Adds one scaled part of the scores: words relative to the maximum, cosines from minimum to maximum. So the
// best value of a query is always 1, and parts can be added.
void add_scaled(std::vector<float>& scores, const std::vector<float>& part, float weight, bool from_least) {
  if (part.empty()) return;
  const auto [lowest, highest] = std::minmax_element(part.begin(), part.end());
  const float least = from_least ? *lowest : 0;
  const float most = *highest;
  if (!(most > least)) return;
  for (std::size_t i = 0; i < part.size(); ++i) scores[i] += weight * (part[i] - least) / (most - least);
}

// Not scaled per query, so that values of different queries are comparable.
float relevance_of(const Parts& parts, std::size_t i, bool by_meaning) {
  const float covered = std::min(parts.coverage[i], 1.0F);
  if (!by_meaning) return covered;
  return std::clamp((std::max(parts.own_meaning[i], parts.near_meaning[i]) + covered) / 2, 0.0F, 1.0F);
}

// Adds a share of the neighbours' scores; the sum is scaled back to 0 .. 1.
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

StretchNorms norms_of(std::span<const std::shared_ptr<const ReadChunk>> chunks,
                      std::span<const std::size_t> embedders, const Weights& weights) {
  const StretchInput stretch{chunks, nullptr};
  const Row row(std::span(&stretch, 1));
  const auto near_fade = row.fades(weights.near_reach), far_fade = row.fades(weights.far_reach);
  StretchNorms out{row.size(), row.chunks, {}};
  for (const std::size_t e : embedders) {
    std::size_t n = 0;
    for (const auto& chunk : chunks)
      if (const ChunkVectors& packed = chunk->stored.vectors[e]; !packed.scales.empty())
        n = packed.sentence(0).values.size();
    Matrix vectors(row.size(), n);
    Matrix by_chunk(row.chunks, n);
    std::size_t i = 0;
    for (const auto& chunk : chunks) {
      for (std::size_t s = 0; s < chunk->stored.chunk.sentences.size(); ++s, ++i) {
        const PackedVector packed = chunk->stored.vectors[e].sentence(s);
        float* vector = vectors.row(i);
        loops().unpack(packed.values.data(), packed.scale, vector, std::min(packed.values.size(), n));
        const auto tokens = static_cast<float>(row.tokens[i]);
        float* sum = by_chunk.row(row.chunk_of[i]);
        for (std::size_t d = 0; d < n; ++d) sum[d] += tokens * vector[d];
      }
    }
    add_lengths(out.values, smoothed(vectors, near_fade, 1), row.size());
    add_lengths(out.values, smoothed(vectors, far_fade, 1), row.size());
    add_lengths(out.values, by_chunk, row.chunks);
  }
  return out;
}

std::vector<std::vector<ScoredSentence>> score_sentences(const QueryInput& query,
                                                         std::span<const StretchInput> stretches,
                                                         const Weights& weights) {
  const Row row(stretches);
  Parts parts(row.size());
  std::vector<float> sums(row.size());
  score_words(query, stretches, row, weights, parts);
  add_scaled(sums, parts.nearby_words, weights.nearby_words, false);
  add_scaled(sums, parts.own_words, weights.own_words, false);
  add_scaled(sums, parts.chunk_words, weights.chunk_words, false);
  float most = weights.nearby_words + weights.own_words + weights.chunk_words;
  if (!query.vectors.empty()) {
    score_meaning(query, stretches, row, weights, parts);
    add_scaled(sums, parts.own_meaning, weights.own_meaning, true);
    add_scaled(sums, parts.near_meaning, weights.near_meaning, true);
    add_scaled(sums, parts.far_meaning, weights.far_meaning, true);
    add_scaled(sums, parts.chunk_meaning, weights.chunk_meaning, true);
    most += weights.own_meaning + weights.near_meaning + weights.far_meaning + weights.chunk_meaning;
  }

  const bool names_subject = query.subjects != 0, by_meaning = !query.vectors.empty();
  std::vector<std::vector<ScoredSentence>> scores(stretches.size());
  std::size_t i = 0;
  for (std::size_t s = 0; s < stretches.size(); ++s) {
    const auto chunks = stretches[s].chunks;
    std::size_t sentences = 0;
    for (const auto& chunk : chunks) sentences += chunk->stored.chunk.sentences.size();
    scores[s].reserve(sentences);
    for (std::uint32_t c = 0; c < chunks.size(); ++c) {
      for (std::size_t each = 0; each < chunks[c]->stored.chunk.sentences.size(); ++each) {
        const Sentence& sentence = chunks[c]->stored.chunk.sentences[each];
        const float worth = chunks[c]->words.worth_of(each);
        scores[s].push_back({.span = sentence.span,
                             .tokens = sentence.tokens,
                             .score = worth * sums[i],
                             .meaning = parts.own_cosine[i],
                             .relevance = names_subject ? worth * relevance_of(parts, i, by_meaning) : 0,
                             .words = parts.words[i],
                             .chunk = c});
        ++i;
      }
    }
    share_with_neighbours(scores[s], weights.neighbour, 1 / (most * (1 + 2 * weights.neighbour)));
  }
  return scores;
}

}  // namespace plimsoll::retrieve
