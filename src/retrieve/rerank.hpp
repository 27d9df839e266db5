// Lets a reranker judge the best text of the evidence, and mixes its scores with ours.
#pragma once

#include <string_view>

#include "plimsoll/embedder.hpp"
#include "plimsoll/passage.hpp"

namespace plimsoll::retrieve {

// docs/search.md has the measurements for these numbers.
struct RerankOptions {
  std::size_t units = 20;    // passages that are read, the best by our score
  Tokens unit_tokens = 100;  // about, of one passage: whole sentences
  float weight = 0.5F;       // of the reranker's score, relative to the best of ours
};

// Raises the scores of sentences in passages that the reranker prefers; the best score stays what it was.
// Sentences that it did not read keep their score. On an error the evidence is unchanged.
Result<void> rerank(std::string_view question, Reranker& reranker, const RerankOptions& options,
                    Deadline deadline, Evidence& evidence);

}  // namespace plimsoll::retrieve
