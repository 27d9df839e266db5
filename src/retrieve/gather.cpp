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
  std::vector<StoredChunk> chunks;
};

void append(std::vector<Loaded>& out, const DocumentHead& document, StoredChunk chunk) {
  const bool goes_on = !out.empty() && out.back().stretch.document.id == document.id &&
                       out.back().chunks.back().id + 1 == chunk.id;
  if (!goes_on) {
    out.emplace_back();
    out.back().stretch.document = document;
    out.back().stretch.start = chunk.chunk.span.start;
  }
  Stretch& stretch = out.back().stretch;
  stretch.text += chunk.text;
  stretch.chunks.push_back({chunk.id, chunk.path, chunk.chunk.lead, chunk.chunk.page});
  out.back().chunks.push_back(std::move(chunk));
}

StretchInput input_of(const Loaded& loaded, std::span<const std::size_t> embedders) {
  StretchInput out{.text = loaded.stretch.text,
                   .start = loaded.stretch.start,
                   .sentences = {},
                   .chunk_of = {},
                   .chunks = loaded.chunks.size(),
                   .vectors = {}};
  out.vectors.resize(embedders.size());
  for (std::size_t c = 0; c < loaded.chunks.size(); ++c) {
    const StoredChunk& stored = loaded.chunks[c];
    for (std::size_t i = 0; i < stored.chunk.sentences.size(); ++i) {
      out.sentences.push_back(stored.chunk.sentences[i]);
      out.chunk_of.push_back(static_cast<std::uint32_t>(c));
      for (std::size_t e = 0; e < embedders.size(); ++e)
        out.vectors[e].push_back(stored.vectors[embedders[e]].sentence(i));
    }
  }
  return out;
}

Result<std::vector<Loaded>> load(Store& store, IndexId index, const Candidates& candidates,
                                 std::size_t neighbours) {
  std::vector<DocumentId> ids;
  for (const auto& [id, chunks] : candidates.by_document) ids.push_back(id);
  TRY(const auto heads, store.heads(ids));
  std::vector<ChunkId> wanted;
  std::map<DocumentId, const DocumentHead*> by_id;
  for (const DocumentHead& head : heads) {
    by_id[head.id] = &head;
    const auto chunks = with_neighbours(candidates.by_document.at(head.id), head, neighbours);
    wanted.insert(wanted.end(), chunks.begin(), chunks.end());
  }
  std::sort(wanted.begin(), wanted.end());
  TRY(auto chunks, store.chunks(index, wanted));
  std::vector<Loaded> out;
  for (StoredChunk& chunk : chunks) {
    const auto head = by_id.find(chunk.document);
    if (head != by_id.end()) append(out, *head->second, std::move(chunk));
  }
  return out;
}

}  // namespace

Result<Evidence> gather(Store& store, const IndexInfo& info, const Index& index, std::string_view query,
                        std::span<const std::vector<float>> query_vectors, const GatherOptions& options) {
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

  TRY(auto loaded, load(store, info.id, candidates, options.neighbours));
  std::vector<StretchInput> inputs;
  inputs.reserve(loaded.size());
  for (const Loaded& each : loaded) inputs.push_back(input_of(each, embedders));
  auto scores = score_sentences(input, inputs, options.weights);
  for (std::size_t s = 0; s < loaded.size(); ++s) {
    loaded[s].stretch.sentences = std::move(scores[s]);
    out.stretches.push_back(std::move(loaded[s].stretch));
  }
  return out;
}

}  // namespace plimsoll::retrieve
