// Scores sentences for a query, with their context.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plimsoll/document.hpp"
#include "plimsoll/index.hpp"
#include "plimsoll/passage.hpp"
#include "retrieve/chunk_cache.hpp"
#include "retrieve/cosine_scale.hpp"

namespace plimsoll::retrieve {

// The parts of a sentence's score, each scaled to 0 .. 1 within the query. docs/search.md has the
// measurements for these numbers.
struct Weights {
  float nearby_words = 1.0F;   // the query's words in and around the sentence
  float own_words = 0.2F;      // BM25 of the sentence alone
  float chunk_words = 0.2F;    // BM25 of its chunk
  float own_meaning = 0.4F;    // cosine of query and sentence
  float near_meaning = 0.4F;   // cosine of query and context, about 100 tokens
  float far_meaning = 0.4F;    // the same, about 200 tokens
  float chunk_meaning = 0.2F;  // cosine of query and chunk
  float neighbour = 0.1F;      // share of each neighbour's score that is added
  float words_reach = 150;     // distance in tokens at which a word counts 1/e
  float near_reach = 100;
  float far_reach = 200;
  float word_after = 0.4F;  // weight of words after the sentence relative to those before: "it" refers back

  bool operator==(const Weights&) const = default;
};

// Cutoff for requests without a budget; docs/search.md has the measurements for these numbers.
struct Cutoff {
  float best = 0.3F;       // a stretch is dropped if none of its sentences reaches this relevance
  float sentence = 0.25F;  // sentences below this are left out
  float share = 0.6F;      // after `sure` tokens: also those below this share of the best score
  Tokens sure = 600;

  // Sets what is left out even if there is room.
  void apply(SelectOptions& options) const {
    options.least_relevance = sentence;
    options.least_share = share;
    options.sure = sure;
  }
};

// Consecutive chunks of a document, for scoring.
struct StretchInput {
  std::span<const std::shared_ptr<const ReadChunk>> chunks;
  std::shared_ptr<const StretchNorms> norms;  // of the compared embedders
};

// Computes the norms of a stretch. They do not depend on the query and are the most expensive part.
// `embedders`: the compared ones, by position in the index.
StretchNorms norms_of(std::span<const std::shared_ptr<const ReadChunk>> chunks,
                      std::span<const std::size_t> embedders, const Weights& weights);

struct QueryInput {
  std::vector<QueryTerm> terms;                 // at most 64
  std::vector<std::size_t> embedders;           // compared ones, by position in the index
  std::vector<std::span<const float>> vectors;  // one per compared embedder
  std::vector<CosineScale> scales{};            // of their cosines; empty: none is scaled
  std::size_t index_chunks = 0;
  float average_words = 0;  // per chunk
  // Of the question on earlier turns: its own words alone show that much less.
  float dependence = 0;
  // A bit for each term that says what the query is about. None: nothing is relevant.
  std::uint64_t subjects = ~std::uint64_t{0};

  bool is_subject(std::size_t term) const { return (subjects >> term & 1U) != 0; }
};

// Returns one list per stretch with one entry per sentence, including span, tokens and chunk.
std::vector<std::vector<ScoredSentence>> score_sentences(const QueryInput& query,
                                                         std::span<const StretchInput> stretches,
                                                         const Weights& weights);

}  // namespace plimsoll::retrieve
