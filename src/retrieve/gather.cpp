#include "retrieve/gather.hpp"

#include <algorithm>
#include <map>

#include "base/text/words.hpp"
#include "base/try.hpp"

namespace plimsoll::retrieve {
namespace {

constexpr std::size_t most_terms = 64;

// Chunks found by the indexes, by document and position, unique.
struct Candidates {
  struct One {
    DocumentId document = 0;
    ChunkId chunk = 0;
    auto operator<=>(const One&) const = default;
  };
  std::vector<One> all;

  void add(const std::vector<Hit>& hits) {
    for (const Hit& hit : hits) all.push_back({hit.document, hit.chunk});
  }
  void put_in_order() {
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }
};

std::vector<DocumentId> documents_of(const Candidates& candidates) {
  std::vector<DocumentId> out;
  for (const auto& one : candidates.all)
    if (out.empty() || out.back() != one.document) out.push_back(one.document);
  return out;
}

// Returns the candidates and their neighbours within their documents. `heads`: by id.
std::vector<ChunkId> with_neighbours(const Candidates& candidates, const ChunkCache::Heads& heads,
                                     std::size_t neighbours) {
  const auto reach = static_cast<ChunkId>(neighbours);
  std::vector<ChunkId> out;
  out.reserve(candidates.all.size() * (2 * neighbours + 1));
  auto one = candidates.all.begin();
  for (const auto& head : heads) {
    while (one != candidates.all.end() && one->document < head->id) ++one;
    ChunkId next = head->first_chunk;  // the first chunk that is not included yet
    const ChunkId last = head->first_chunk + head->chunks - 1;
    for (; one != candidates.all.end() && one->document == head->id; ++one) {
      const ChunkId to = std::min(last, one->chunk + reach);
      for (next = std::max(next, one->chunk - reach); next <= to; ++next) out.push_back(next);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

struct Loaded {
  std::shared_ptr<const DocumentHead> document;
  ChunkCache::Chunks chunks;
};

Result<std::vector<Loaded>> load(ChunkCache& cache, IndexId index, const Candidates& candidates,
                                 std::size_t neighbours) {
  TRY(const auto heads, cache.heads(index, documents_of(candidates)));
  TRY(auto chunks, cache.chunks(index, with_neighbours(candidates, heads, neighbours)));
  std::vector<Loaded> out;
  out.reserve(chunks.size());
  for (auto& chunk : chunks) {
    const bool goes_on = !out.empty() && out.back().document->id == chunk->stored.document &&
                         out.back().chunks.back()->stored.id + 1 == chunk->stored.id;
    if (!goes_on) {
      const auto head =
          std::ranges::lower_bound(heads, chunk->stored.document, {}, [](const auto& h) { return h->id; });
      if (head == heads.end() || (*head)->id != chunk->stored.document) continue;
      out.push_back({*head, {}});
    }
    out.back().chunks.push_back(std::move(chunk));
  }
  return out;
}

// `cache`: null if these norms are not needed by other queries.
std::shared_ptr<const StretchNorms> norms_of(const Loaded& loaded, ChunkCache* cache, IndexId index,
                                             std::span<const std::size_t> embedders, const Weights& weights) {
  const ChunkId first = loaded.chunks.front()->stored.id;
  if (cache != nullptr)
    if (auto known = cache->norms(index, first, loaded.chunks.size())) return known;
  auto norms = std::make_shared<const StretchNorms>(retrieve::norms_of(loaded.chunks, embedders, weights));
  if (cache != nullptr) cache->keep_norms(index, first, loaded.chunks.size(), norms);
  return norms;
}

Stretch stretch_of(Loaded loaded, std::vector<ScoredSentence> sentences) {
  Stretch out{std::move(loaded.document), {}, std::move(sentences)};
  out.chunks.reserve(loaded.chunks.size());
  for (auto& chunk : loaded.chunks) {
    const StoredChunk* stored = &chunk->stored;
    out.chunks.emplace_back(std::move(chunk), stored);
  }
  return out;
}

// Returns the query's words as written, by stem, for display.
std::map<std::string, std::string> written_words(std::string_view query) {
  std::map<std::string, std::string> out;
  base::WordScanner scanner(query);
  while (scanner.next())
    out.try_emplace(std::string(base::stem_word(scanner.folded()).stem), scanner.folded());
  return out;
}

// Adds words of the conversation that are not in the query.
void add_context(const Index& index, const GatherOptions& options, std::vector<QueryTerm>& terms) {
  const std::size_t own = terms.size();
  for (QueryTerm& term : index.terms(options.context)) {
    if (terms.size() == most_terms) return;
    const auto end = terms.begin() + static_cast<std::ptrdiff_t>(own);
    if (std::ranges::find(terms.begin(), end, term.term, &QueryTerm::term) != end) continue;
    term.weight = options.context_weight;
    terms.push_back(std::move(term));
  }
}

}  // namespace

Result<Evidence> gather(Store& store, ChunkCache& cache, const IndexInfo& info, const Index& index,
                        std::string_view query, std::span<const std::vector<float>> query_vectors,
                        const GatherOptions& options) {
  Evidence out;
  std::vector<DocumentId> allowed;
  if (!options.filter.empty()) {
    TRY(allowed, store.matching(info.id, options.filter));
    if (allowed.empty()) return out;
  }
  const std::vector<DocumentId>* only = options.filter.empty() ? nullptr : &allowed;

  QueryInput input{.terms = index.terms(query),
                   .embedders = {},
                   .vectors = {},
                   .index_chunks = index.size(),
                   .average_words = index.average_words()};
  if (input.terms.size() > most_terms) input.terms.resize(most_terms);
  out.lexical = index.lexical(query, options.candidates, only);
  Candidates candidates;
  candidates.add(out.lexical);
  if (options.context_weight > 0) {
    add_context(index, options, input.terms);
    candidates.add(index.lexical(options.context + " " + std::string(query), options.candidates, only));
  }
  for (std::size_t e = 0; e < query_vectors.size() && e < info.settings.embedders.size(); ++e) {
    if (query_vectors[e].size() != info.settings.embedders[e].dimensions) continue;
    input.embedders.push_back(e);
    input.vectors.emplace_back(query_vectors[e]);
    auto nearest = index.nearest(e, query_vectors[e], options.candidates, only);
    candidates.add(nearest);
    if (out.nearest.empty()) out.nearest = std::move(nearest);
  }
  candidates.put_in_order();
  out.by_meaning = !input.embedders.empty();
  out.candidates = candidates.all.size();
  const auto written = written_words(std::string(query) + " " + options.context);
  for (const QueryTerm& term : input.terms) {
    const auto found = written.find(term.term);
    out.words.push_back(found == written.end() ? term.term : found->second);
  }

  TRY(auto loaded, load(cache, info.id, candidates, options.neighbours));
  const bool as_ever =
      input.embedders.size() == info.settings.embedders.size() && options.weights == Weights{};
  std::vector<StretchInput> inputs;
  inputs.reserve(loaded.size());
  for (const Loaded& each : loaded)
    inputs.push_back(
        {each.chunks, norms_of(each, as_ever ? &cache : nullptr, info.id, input.embedders, options.weights)});
  auto scores = score_sentences(input, inputs, options.weights);
  out.stretches.reserve(loaded.size());
  for (std::size_t s = 0; s < loaded.size(); ++s)
    out.stretches.push_back(stretch_of(std::move(loaded[s]), std::move(scores[s])));
  return out;
}

}  // namespace plimsoll::retrieve
