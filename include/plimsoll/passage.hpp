// Input and output of passage selection: scored sentences in, passages that fit the budget out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
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

// A name that led to a chunk: the second hop of a question that needs two documents.
struct EvidenceLink {
  std::string name;  // folded: "mary poppins"
  std::string from;  // key of the document that has the name; empty: the question has it
  float weight = 0;  // 0 to 1
};
inline constexpr std::uint32_t no_link = std::numeric_limits<std::uint32_t>::max();

// A candidate sentence with its scores.
struct ScoredSentence {
  Span span;                     // of the document's text
  Tokens tokens = 0;             // of this span alone, by the index's tokenizer
  float score = 0;               // 0 to about 1, within one query
  float meaning = 0;             // cosine of query and sentence; 0: no vectors were compared
  float relevance = 1;           // 0 to 1, comparable between queries: by meaning and by the share of words
  std::uint64_t words = 0;       // bit mask of the words from Evidence::words that it has
  std::uint32_t chunk = 0;       // index into Stretch::chunks
  std::uint32_t link = no_link;  // into Evidence::links: the name that raised its score most
  std::uint32_t part = 0;        // of the question: the part that it answers best
};

// Consecutive chunks of one document, at least one. They are shared, not copied: a query considers
// hundreds but uses few.
struct Stretch {
  std::shared_ptr<const DocumentHead> document;
  std::vector<std::shared_ptr<const StoredChunk>> chunks;
  std::vector<ScoredSentence> sentences;  // ascending

  std::string_view text_of(const ScoredSentence& sentence) const {
    const StoredChunk& chunk = *chunks[sentence.chunk];
    return std::string_view(chunk.text)
        .substr(sentence.span.start - chunk.chunk.span.start, sentence.span.size());
  }
  // Returns these bytes of the document's text; they must be inside the chunks.
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
  std::vector<Stretch> stretches;  // by document and position
  std::vector<EvidenceLink> links;
  std::vector<std::string> words;  // of the query, as written there; at most 64
  std::uint32_t parts = 1;         // of the question; each gets its share of the budget
  std::size_t candidates = 0;      // chunks that were considered
  std::vector<Hit> lexical;        // hits of the keyword search, best first
  std::vector<Hit> nearest;        // hits of the first embedder that found any
  bool by_meaning = false;         // whether vectors were compared
  std::vector<std::string> notes;  // notes for the user: "no embedder: ..."
};

// Order of passages in the prompt.
enum class PassageOrder : std::uint8_t {
  document,  // as in their documents; documents in the order of their best passage
  best_first,
  best_last,  // next to the question, and the last to be lost if a server truncates the start
  both_ends,  // the best at the ends, the weakest in the middle
};
std::string_view name_of(PassageOrder order);
std::optional<PassageOrder> passage_order_named(std::string_view name);

struct SelectedPassage;

struct SelectOptions {
  Tokens budget = 0;
  // Left out even if the budget has room: sentences below this relevance and, once this many tokens are
  // used, those below this share of the best score.
  float least_relevance = 0;
  float least_share = 0;
  Tokens sure = 0;
  // Renders a passage for the prompt with its number (from 1). Counts against the budget.
  // None: label, lead and text.
  std::function<std::string(const SelectedPassage& passage, std::size_t number)> render{};
  PassageOrder order = PassageOrder::document;
  std::optional<std::size_t> most_passages{};
  bool labels = true;         // "[1: guide.md] " before a passage; false: only passages, one per line
  bool recount = false;       // the tokenizer differs from that of the evidence
  double label_share = 0.03;  // share of the budget for names of documents and headings
};

struct SelectedPassage {
  DocumentId document = 0;
  std::string key;
  Span span;          // of the document's text
  Span source;        // of the source file; of the text if the file is not addressable
  std::string text;   // of `span`
  std::string label;  // "[1: guide.md > Install] "
  std::string lead;   // own line between label and text; or empty
  // Headings of the section that has all of it, or the document's title above all sections.
  std::string path;
  std::uint32_t page = 0, last_page = 0;  // from 1; 0: the format has no pages
  // In the file, from 1; 0 if the text differs from the file, as in PDF and HTML.
  std::uint64_t first_line = 0, last_line = 0;
  bool addressable = true;  // `source` refers to the file
  Tokens tokens = 0;        // of `text` alone
  float score = 0;          // of its best sentence
  float meaning = 0;        // of its best sentence
  float relevance = 0;      // of its best sentence
  std::string reason;
};

// A document of the evidence that has no passage, and why its best sentence was not taken.
struct LeftOutDocument {
  DocumentId document = 0;
  std::string reason;
};

struct Selection {
  std::vector<SelectedPassage> passages;  // in their order in the text
  std::vector<LeftOutDocument> left_out;
  std::string text;   // for the prompt
  Tokens tokens = 0;  // of `text`; never above the budget
};

// Takes sentences by score while they fit, joins neighbours, drops repetitions; then adds labels, orders
// them and recounts exactly. Pure.
Selection select_passages(const Evidence& evidence, const Tokenizer& tokenizer, const SelectOptions& options);

}  // namespace plimsoll
