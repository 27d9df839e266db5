#include "retrieve/candidates.hpp"

#include <algorithm>

#include "base/try.hpp"

namespace plimsoll::retrieve {
namespace {

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

}  // namespace

void Candidates::add(const std::vector<Hit>& hits) {
  for (const Hit& hit : hits) all.push_back({hit.document, hit.chunk});
}

void Candidates::put_in_order() {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

Result<std::vector<Loaded>> load_candidates(ChunkCache& cache, IndexId index, const Candidates& candidates,
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

}  // namespace plimsoll::retrieve
