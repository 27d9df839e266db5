#include "retrieve/gather.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/try.hpp"

namespace plimsoll::retrieve {
namespace {

constexpr std::size_t most_terms = 64;

struct Candidates {
  std::map<DocumentId, std::set<ChunkId>> by_document;
  std::size_t chunks = 0;

  void add(const std::vector<Hit>& hits) {
    for (const Hit& hit : hits) {
      if (by_document[hit.document].insert(hit.chunk).second) ++chunks;
    }
  }
};

// The candidates and their neighbours, as far as the document goes.
std::vector<ChunkId> with_neighbours(const std::set<ChunkId>& chunks, const DocumentHead& document,
                                     std::size_t reach) {
  std::set<ChunkId> out;
  const ChunkId last = document.first_chunk + document.chunks - 1;
  for (const ChunkId chunk : chunks) {
    const ChunkId from = std::max(document.first_chunk, chunk - static_cast<ChunkId>(reach));
    const ChunkId to = std::min(last, chunk + static_cast<ChunkId>(reach));
    for (ChunkId id = from; id <= to; ++id) out.insert(id);
  }
  return {out.begin(), out.end()};
}

// A stretch with what scoring needs of it; the chunks own what the input points into.
struct Loaded {
  Stretch stretch;
  ChunkCache::Chunks chunks;
};

void append(std::vector<Loaded>& out, const DocumentHead& document, std::shared_ptr<const ReadChunk> read) {
  const StoredChunk& chunk = read->stored;
  const bool goes_on = !out.empty() && out.back().stretch.document.id == document.id &&
                       out.back().chunks.back()->stored.id + 1 == chunk.id;
  if (!goes_on) {
    out.emplace_back();
    out.back().stretch.document = document;
    out.back().stretch.start = chunk.chunk.span.start;
  }
  Stretch& stretch = out.back().stretch;
  stretch.text += chunk.text;
  stretch.chunks.push_back({chunk.id, chunk.path, chunk.chunk.lead, chunk.chunk.page});
  out.back().chunks.push_back(std::move(read));
}

StretchInput input_of(const Loaded& loaded, std::span<const std::size_t> embedders) {
  StretchInput out;
  out.chunks = loaded.chunks.size();
  std::size_t sentences = 0;
  for (const auto& chunk : loaded.chunks) sentences += chunk->stored.chunk.sentences.size();
  out.sentences.reserve(sentences);
  out.words.reserve(sentences);
  out.chunk_of.reserve(sentences);
  out.vectors.resize(embedders.size());
  for (auto& vectors : out.vectors) vectors.reserve(sentences);
  for (std::size_t c = 0; c < loaded.chunks.size(); ++c) {
    const StoredChunk& stored = loaded.chunks[c]->stored;
    for (std::size_t i = 0; i < stored.chunk.sentences.size(); ++i) {
      out.sentences.push_back(stored.chunk.sentences[i]);
      out.words.push_back(loaded.chunks[c]->words.of(i));
      out.chunk_of.push_back(static_cast<std::uint32_t>(c));
      for (std::size_t e = 0; e < embedders.size(); ++e)
        out.vectors[e].push_back(stored.vectors[embedders[e]].sentence(i));
    }
  }
  return out;
}

// `cache`: null where they are not those that every query asks for.
void add_norms(StretchInput& input, const Loaded& loaded, ChunkCache* cache, IndexId index,
               const Weights& weights) {
  const ChunkId first = loaded.chunks.front()->stored.id;
  if (cache != nullptr) input.norms = cache->norms(index, first, loaded.chunks.size());
  if (input.norms) return;
  input.norms = std::make_shared<const ChunkCache::Norms>(norms_of(input, weights));
  if (cache != nullptr) cache->keep_norms(index, first, loaded.chunks.size(), input.norms);
}

Result<std::vector<Loaded>> load(ChunkCache& cache, IndexId index, const Candidates& candidates,
                                 std::size_t neighbours) {
  std::vector<DocumentId> ids;
  for (const auto& [id, chunks] : candidates.by_document) ids.push_back(id);
  TRY(const auto heads, cache.heads(index, ids));
  std::vector<ChunkId> wanted;
  std::map<DocumentId, const DocumentHead*> by_id;
  for (const auto& head : heads) {
    by_id[head->id] = head.get();
    const auto chunks = with_neighbours(candidates.by_document.at(head->id), *head, neighbours);
    wanted.insert(wanted.end(), chunks.begin(), chunks.end());
  }
  std::sort(wanted.begin(), wanted.end());
  TRY(auto chunks, cache.chunks(index, wanted));
  std::vector<Loaded> out;
  out.reserve(chunks.size());
  for (auto& chunk : chunks) {
    const auto head = by_id.find(chunk->stored.document);
    if (head != by_id.end()) append(out, *head->second, std::move(chunk));
  }
  return out;
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
                   .vectors = {},
                   .index_chunks = index.size(),
                   .average_words = index.average_words()};
  if (input.terms.size() > most_terms) input.terms.resize(most_terms);
  Candidates candidates;
  candidates.add(index.lexical(query, options.candidates, only));
  std::vector<std::size_t> embedders;
  for (std::size_t e = 0; e < query_vectors.size() && e < info.settings.embedders.size(); ++e) {
    if (query_vectors[e].size() != info.settings.embedders[e].dimensions) continue;
    embedders.push_back(e);
    input.vectors.emplace_back(query_vectors[e]);
    candidates.add(index.nearest(e, query_vectors[e], options.candidates, only));
  }
  out.by_meaning = !embedders.empty();
  out.candidates = candidates.chunks;
  for (const QueryTerm& term : input.terms) out.words.push_back(term.term);

  TRY(auto loaded, load(cache, info.id, candidates, options.neighbours));
  const bool as_ever = embedders.size() == info.settings.embedders.size() && options.weights == Weights{};
  std::vector<StretchInput> inputs;
  inputs.reserve(loaded.size());
  for (const Loaded& each : loaded) {
    inputs.push_back(input_of(each, embedders));
    add_norms(inputs.back(), each, as_ever ? &cache : nullptr, info.id, options.weights);
  }
  auto scores = score_sentences(input, inputs, options.weights);
  for (std::size_t s = 0; s < loaded.size(); ++s) {
    loaded[s].stretch.sentences = std::move(scores[s]);
    out.stretches.push_back(std::move(loaded[s].stretch));
  }
  return out;
}

}  // namespace plimsoll::retrieve
