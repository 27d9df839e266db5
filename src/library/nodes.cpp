#include "library/nodes.hpp"

#include <algorithm>
#include <map>

#include "base/try.hpp"

namespace plimsoll::library {
namespace {

// Loads chunks with properties of their documents; leaves out deleted ones.
Result<std::map<ChunkId, Node>> load_nodes(Store& store, IndexId index,
                                           const std::map<ChunkId, const DocumentHead*>& wanted) {
  std::vector<ChunkId> ids;
  for (const auto& [id, head] : wanted) ids.push_back(id);
  TRY(auto chunks, store.chunks(index, ids));
  std::map<ChunkId, Node> nodes;
  for (StoredChunk& chunk : chunks) {
    const DocumentHead& head = *wanted.at(chunk.id);
    nodes[chunk.id] = {head.key, chunk.chunk.span, std::move(chunk.text), head.metadata};
  }
  return nodes;
}

struct Ranked {
  const StoredChunk* chunk = nullptr;
  const DocumentHead* document = nullptr;
  double score = 0;
  double relevance = 0;
};

std::map<ChunkId, double> scores_of(const std::vector<Hit>& hits) {
  std::map<ChunkId, double> scores;
  for (const Hit& hit : hits) {
    double& score = scores.try_emplace(hit.chunk, static_cast<double>(hit.score)).first->second;
    score = std::max(score, static_cast<double>(hit.score));
  }
  return scores;
}

std::optional<double> score_in(const std::map<ChunkId, double>& scores, ChunkId chunk) {
  const auto found = scores.find(chunk);
  return found == scores.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

Result<NodePage> list_nodes(Store& store, const IndexInfo& info, const Filter& filter, std::int64_t offset,
                            std::int64_t limit) {
  constexpr std::size_t step = 1'000;
  NodePage page;
  std::vector<std::vector<DocumentHead>> kept;    // keeps the heads alive
  std::map<ChunkId, const DocumentHead*> wanted;  // chunk ids rise with document ids
  const bool counts_all = !filter.empty();
  std::int64_t seen = 0;
  for (DocumentId after = 0;;) {
    TRY(auto some, store.documents(info.id, filter, after, step));
    if (some.empty()) break;
    after = some.back().id;
    kept.push_back(std::move(some));
    const std::size_t before = wanted.size();
    for (const DocumentHead& head : kept.back()) {
      const std::int64_t from = std::max<std::int64_t>(0, offset - seen);
      for (std::int64_t i = from; i < head.chunks && std::cmp_less(wanted.size(), limit); ++i)
        wanted[head.first_chunk + i] = &head;
      seen += head.chunks;
    }
    const bool last = kept.back().size() < step;
    if (wanted.size() == before) kept.pop_back();
    if (last || (!counts_all && std::cmp_equal(wanted.size(), limit))) break;
  }
  page.total = counts_all ? seen : info.chunks;
  TRY(auto nodes, load_nodes(store, info.id, wanted));
  for (auto& [id, node] : nodes) page.nodes.push_back(std::move(node));
  return page;
}

Result<std::vector<RankedNode>> rank_nodes(const OpenIndex& open, std::string_view query, std::size_t most,
                                           retrieve::GatherOptions options, Deadline deadline) {
  constexpr std::size_t least_candidates = 64;
  options.candidates = std::max(least_candidates, 3 * most);
  options.parts = false;
  TRY(const Evidence evidence, find_evidence(open, query, options, deadline));
  const auto sparse = scores_of(evidence.lexical), dense = scores_of(evidence.nearest);

  std::vector<Ranked> ranked;
  for (const Stretch& stretch : evidence.stretches) {
    const std::size_t first = ranked.size();
    for (const auto& chunk : stretch.chunks) ranked.push_back({chunk.get(), stretch.document.get()});
    for (const ScoredSentence& sentence : stretch.sentences) {
      Ranked& one = ranked[first + sentence.chunk];
      one.score = std::max(one.score, static_cast<double>(sentence.score));
      one.relevance = std::max(one.relevance, static_cast<double>(sentence.relevance));
    }
  }
  std::ranges::stable_sort(ranked, std::greater<>(), &Ranked::score);
  if (ranked.size() > most) ranked.resize(most);
  std::vector<RankedNode> out;
  for (const auto& [chunk, document, score, relevance] : ranked)
    out.push_back({{document->key, chunk->chunk.span, chunk->text, document->metadata},
                   score,
                   relevance,
                   score_in(dense, chunk->id),
                   score_in(sparse, chunk->id)});
  return out;
}

}  // namespace plimsoll::library
