// How much a sentence has to say to a query, judged with what stands around it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plimsoll/document.hpp"
#include "plimsoll/index.hpp"
#include "plimsoll/passage.hpp"
#include "retrieve/chunk_cache.hpp"

namespace plimsoll::retrieve {

// What a sentence's score is made of, each part scaled to 0 .. 1 within the query. docs/search.md has the
// measurements behind the numbers.
struct Weights {
  float nearby_words = 1.0F;   // the query's words in and around the sentence
  float own_words = 0.2F;      // BM25 of the sentence by itself
  float chunk_words = 0.2F;    // BM25 of the chunk around it
  float own_meaning = 0.4F;    // cosine of query and sentence
  float near_meaning = 0.4F;   // cosine of query and the surroundings, about 100 tokens
  float far_meaning = 0.4F;    // and about 200 tokens
  float chunk_meaning = 0.2F;  // cosine of query and chunk
  float neighbour = 0.1F;      // share of each neighbour's score that is added
  float words_reach = 150;     // tokens, at which a word around the sentence counts 1/e of one inside
  float near_reach = 100;
  float far_reach = 200;
  float word_after = 0.4F;  // what a word after the sentence counts beside one before it: "it" looks back

  bool operator==(const Weights&) const = default;
};

// Where evidence stops, for requests that name no budget; docs/search.md has the curve behind the numbers.
struct Cutoff {
  float best = 0.3F;       // nothing goes along where no sentence is as relevant as this
  float sentence = 0.25F;  // a sentence below this stays out
  float share = 0.6F;      // once `sure` tokens are taken: so does one below this share of the best score
  Tokens sure = 600;
};

// Consecutive chunks of a document, as they are scored.
struct StretchInput {
  std::span<const std::shared_ptr<const ReadChunk>> chunks;
  std::shared_ptr<const StretchNorms> norms;  // of the embedders that are compared
};

// Of the vectors of a stretch. They do not depend on a query, and cost more than all that does.
// `embedders`: those that are compared, by place in the index.
StretchNorms norms_of(std::span<const std::shared_ptr<const ReadChunk>> chunks,
                      std::span<const std::size_t> embedders, const Weights& weights);

struct QueryInput {
  std::vector<QueryTerm> terms;                 // at most 64
  std::vector<std::size_t> embedders;           // that are compared, by place in the index
  std::vector<std::span<const float>> vectors;  // by those
  std::size_t index_chunks = 0;
  float average_words = 0;  // of a chunk
};

// One list a stretch, one entry a sentence; span, tokens and chunk filled in as well.
std::vector<std::vector<ScoredSentence>> score_sentences(const QueryInput& query,
                                                         std::span<const StretchInput> stretches,
                                                         const Weights& weights);

}  // namespace plimsoll::retrieve
