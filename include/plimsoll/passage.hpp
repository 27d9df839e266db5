// What retrieval finds and what the selector makes of it: sentences with scores in, passages that fit out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/count.hpp"
#include "plimsoll/document.hpp"
#include "plimsoll/index.hpp"
#include "plimsoll/result.hpp"
#include "plimsoll/store.hpp"

namespace plimsoll {

// A sentence that may go in, and what speaks for it.
struct ScoredSentence {
  Span span;                // of the document's text
  Tokens tokens = 0;        // of these bytes alone, by the index's tokenizer
  float score = 0;          // 0 to about 1, within one query
  float meaning = 0;        // cosine of query and sentence; 0 where no vectors are compared
  float relevance = 1;      // 0 to 1, comparable between queries: by meaning and by the share of words
  std::uint64_t words = 0;  // which of Evidence::words it has, a bit each
  std::uint32_t chunk = 0;  // of Stretch::chunks, which holds all of it
};

// Consecutive chunks of one document, at least one. They are shared and not copied: a query looks at
// hundreds, and few of them go in.
struct Stretch {
  std::shared_ptr<const DocumentHead> document;
  std::vector<std::shared_ptr<const StoredChunk>> chunks;
  std::vector<ScoredSentence> sentences;  // ascending

  std::string_view text_of(const ScoredSentence& sentence) const {
    const StoredChunk& chunk = *chunks[sentence.chunk];
    return std::string_view(chunk.text)
        .substr(sentence.span.start - chunk.chunk.span.start, sentence.span.size());
  }
  // These bytes of the document's text, which the chunks hold.
  std::string text_within(Span span) const {
    std::string out;
    for (const auto& chunk : chunks) {
      const Span held = chunk->chunk.span;
      const std::uint64_t from = std::max(span.start, held.start), to = std::min(span.end, held.end);
      if (from < to) out.append(chunk->text, from - held.start, to - from);
    }
    return out;
  }
};

struct Evidence {
  std::vector<Stretch> stretches;  // by document and place
  std::vector<std::string> words;  // of the query, as they are written there; at most 64
  std::size_t candidates = 0;      // chunks that were looked at
  std::vector<Hit> lexical;        // what the index answered, best first
  std::vector<Hit> nearest;        // by the first embedder that found anything
  bool by_meaning = false;         // whether vectors were compared
  std::vector<std::string> notes;  // what the reader should know: "no embedder: ..."
};

// How passages stand in the prompt.
enum class PassageOrder : std::uint8_t {
  document,  // as in their documents, which come in the order of their best passage
  best_first,
  best_last,  // next to the question, and the last to be lost where a server cuts from the top
  both_ends,  // the best at the ends, the weakest in the middle
};
std::string_view name_of(PassageOrder order);
std::optional<PassageOrder> passage_order_named(std::string_view name);

struct SelectedPassage;

struct SelectOptions {
  Tokens budget = 0;
  // What is left out even where the budget has room: sentences below this relevance, and once so many tokens
  // are taken, those below this share of the best score.
  float least_relevance = 0;
  float least_share = 0;
  Tokens sure = 0;
  // The passage as it stands in the prompt, by its number there (from 1). Counted against the budget.
  // None: its label, lead and text.
  std::function<std::string(const SelectedPassage& passage, std::size_t number)> render{};
  PassageOrder order = PassageOrder::document;
  std::optional<std::size_t> most_passages{};
  bool labels = true;         // "[1: guide.md] " before a passage; false: passages alone, a line each
  bool recount = false;       // the tokenizer is not the one that the evidence was counted with
  double label_share = 0.03;  // of the budget, that names of documents and headings may take
};

struct SelectedPassage {
  DocumentId document = 0;
  std::string key;
  Span span;          // of the document's text
  Span source;        // of the file that it was read from; of the text, where a file cannot be addressed
  std::string text;   // these bytes
  std::string label;  // "[1: guide.md > Install] "
  std::string lead;   // stands between label and text, on a line of its own; or empty
  std::string path;
  std::uint32_t page = 0;  // of its first sentence, from 1; 0 where the format has no pages
  // In the file, from 1; 0 where its text is not the file, as in PDF and HTML.
  std::uint64_t first_line = 0, last_line = 0;
  bool addressable = true;  // `source` is of the file
  Tokens tokens = 0;        // of `text` alone
  float score = 0;          // of its best sentence
  float meaning = 0;        // the best of its sentences'
  float relevance = 0;      // likewise
  std::string reason;
};

struct Selection {
  std::vector<SelectedPassage> passages;  // as they stand in the text
  std::string text;                       // what goes into the prompt
  Tokens tokens = 0;                      // of exactly that; never above the budget
};

// Sentences by score while they fit, neighbours joined, repetitions left out; then labels, order, and an
// exact recount. Pure.
Selection select_passages(const Evidence& evidence, const Tokenizer& tokenizer, const SelectOptions& options);

}  // namespace plimsoll
