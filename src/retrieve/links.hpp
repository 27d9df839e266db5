// Follows names from sentences to other documents: the second hop of questions that need two documents.
//
// The graph is not stored as such. Its nodes are names and chunks; its edges are the postings of names in the
// index (mention, title, other name), read in one direction, and the names in a sentence, read from its text,
// in the other. docs/search.md has the measurements for the weights.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/index.hpp"
#include "retrieve/score.hpp"

namespace plimsoll::retrieve {

// A chunk that the question or a sentence names.
struct Link {
  ChunkId chunk = 0;
  DocumentId document = 0;
  DocumentId from = 0;  // of the sentence; 0: the question
  float weight = 0;     // 0 to 1: how good the sentence is, and how precise the name
  std::string name;     // its key
  NameUse use = NameUse::title;
  std::uint64_t seen = 0;  // the question's words in the chunk that has the name, as a bit mask
  float relevance = 1;     // of the sentence
};

using SentenceScores = std::vector<std::vector<ScoredSentence>>;

// Returns the chunks whose title or other name is in the question; heaviest first, each once.
Result<std::vector<Link>> links_of_question(const Index& index, std::string_view question);

// Returns the chunks that the best sentences name and the question does not; heaviest first, each once.
Result<std::vector<Link>> links_of_sentences(const Index& index, std::string_view question,
                                             std::span<const StretchInput> stretches,
                                             const SentenceScores& scores);

// Raises the scores and the relevance of sentences in linked chunks, and sets their `link` to a position in
// `links`. `document_chunks`: by stretch, the number of chunks of its document. The best score stays what it
// was.
void add_links(std::span<const Link> links, std::span<const QueryTerm> terms,
               std::span<const StretchInput> stretches, std::span<const std::int64_t> document_chunks,
               SentenceScores& scores);

}  // namespace plimsoll::retrieve
