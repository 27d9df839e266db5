#include "library/name_graph.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/text/names.hpp"
#include "base/try.hpp"

namespace plimsoll::library {
namespace {

// Chunks read for the names around: enough for a picture.
constexpr std::size_t most_read = 200;

Result<std::vector<std::string>> documents_of(const OpenIndex& open, const std::vector<Hit>& hits,
                                              std::size_t most) {
  std::vector<DocumentId> ids;
  for (const Hit& hit : hits) ids.push_back(hit.document);
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  if (ids.size() > most) ids.resize(most);
  TRY(const auto heads, open.chunks.heads(open.info.id, ids));
  std::vector<std::string> out;
  for (const auto& head : heads) out.push_back(head->key);
  return out;
}

}  // namespace

Result<NameNeighbours> neighbours_of(const OpenIndex& open, std::string_view name, std::size_t most) {
  NameNeighbours out;
  out.key = base::name_key(name);
  const std::span<const std::string> asked(&out.key, 1);
  TRY(const auto all_titled, open.index.named(NameUse::title, asked, most_read));
  TRY(const auto all_others, open.index.named(NameUse::other, asked, most_read));
  TRY(const auto all_mentions, open.index.named(NameUse::mention, asked, most_read));
  const NamedChunks &titled = all_titled.front(), &others = all_others.front(),
                    &mentions = all_mentions.front();
  TRY(out.titled, documents_of(open, titled.chunks, most));
  TRY(out.others, documents_of(open, others.chunks, most));
  TRY(out.mentions, documents_of(open, mentions.chunks, most));
  out.chunks = mentions.total;

  std::set<ChunkId> ids;
  for (const auto* list : {&titled, &others, &mentions})
    for (const Hit& hit : list->chunks) ids.insert(hit.chunk);
  const std::vector<ChunkId> wanted(ids.begin(), ids.end());
  TRY(const auto chunks, open.chunks.chunks(open.info.id, wanted));
  std::map<std::string, std::size_t> counts;
  std::vector<base::Name> names;
  for (const auto& chunk : chunks) {
    base::read_names(chunk->stored.text, names);
    std::set<std::string> once;
    for (base::Name& each : names)
      if (each.key != out.key && once.insert(each.key).second) ++counts[each.key];
  }
  for (const auto& [key, count] : counts) out.names.push_back({key, count});
  std::ranges::stable_sort(out.names, std::greater<>(), &NameCount::chunks);
  if (out.names.size() > most) out.names.resize(most);
  return out;
}

}  // namespace plimsoll::library
