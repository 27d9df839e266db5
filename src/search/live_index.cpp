#include "search/live_index.hpp"

#include <algorithm>

#include "base/documents/chunk_words.hpp"
#include "base/log.hpp"
#include "base/try.hpp"
#include "search/name_terms.hpp"

namespace plimsoll::search {

LiveIndex::LiveIndex(Store& store, IndexInfo info, OpenOptions options)
    : store_(store), info_(std::move(info)), options_(std::move(options)) {
  forget();
}

std::shared_ptr<const LiveIndex::State> LiveIndex::state() const {
  const std::lock_guard lock(state_mutex_);
  return state_;
}

void LiveIndex::publish(State next) {
  auto shared = std::make_shared<const State>(std::move(next));
  const std::lock_guard lock(state_mutex_);
  state_.swap(shared);
}

// Resets to an empty index.
void LiveIndex::forget() {
  lexical_reached_ = {};
  vectors_reached_.assign(info_.settings.embedders.size(), {});
  vectors_.clear();
  changed_ = snapshot_size_ = 0;
  has_snapshot_ = false;
  State empty;
  empty.lexical = std::make_shared<const Lexical>(Parts{});
  for (const EmbedderInfo& embedder : info_.settings.embedders) {
    vectors_.push_back(std::make_shared<Vectors>(embedder.dimensions, options_.vectors));
    empty.vectors.push_back(vectors_.back()->view(nullptr, {}));
  }
  publish(std::move(empty));
}

std::size_t LiveIndex::size() const {
  return state()->lexical->size();
}

Revision LiveIndex::revision() const {
  return state()->revision;
}

Result<std::vector<Hit>> LiveIndex::lexical(std::string_view query, std::size_t k,
                                            const std::vector<DocumentId>* only) const {
  return state()->lexical->search(query, k, only);
}

Result<std::vector<Hit>> LiveIndex::nearest(std::size_t embedder, std::span<const float> query, std::size_t k,
                                            const std::vector<DocumentId>* only) const {
  const auto now = state();
  if (embedder >= now->vectors.size()) return std::vector<Hit>{};
  return now->vectors[embedder].nearest(query, k, only);
}

Result<std::vector<QueryTerm>> LiveIndex::terms(std::string_view query) const {
  return state()->lexical->terms(query);
}

Result<std::vector<NamedChunks>> LiveIndex::named(NameUse use, std::span<const std::string> keys,
                                                  std::size_t most) const {
  const auto now = state();
  std::vector<NamedChunks> out;
  out.reserve(keys.size());
  for (const std::string& key : keys) out.push_back(now->lexical->named(use, key, most));
  return out;
}

Result<std::vector<NameCount>> LiveIndex::most_mentioned(std::size_t most) const {
  return state()->lexical->most_mentioned(most);
}

float LiveIndex::average_words() const {
  return static_cast<float>(state()->lexical->average_words());
}

// Returns the removed chunks that the index may still contain. If the store no longer knows them, the index
// is reset.
Result<std::vector<Removed>> LiveIndex::what_was_removed() {
  Revision oldest = lexical_reached_.revision;
  for (const Reached& reached : vectors_reached_)
    if (oldest < 0 || (reached.revision >= 0 && reached.revision < oldest)) oldest = reached.revision;
  if (oldest < 0) return std::vector<Removed>{};
  TRY(auto removed, store_.removed_since(info_.id, oldest));
  if (removed) return *std::move(removed);
  log::info("rebuilding the index: the store no longer knows what was removed",
            {{"index", info_.name}, {"since", oldest}});
  forget();
  return std::vector<Removed>{};
}

// Adds new vectors, and builds a segment of the chunks that are not indexed yet; null if there are
// none.
Result<std::shared_ptr<const Segment>> LiveIndex::read_new(Revision revision) {
  ChunkId after = lexical_reached_.highest;
  for (const Reached& reached : vectors_reached_) after = std::min(after, reached.highest);
  SegmentBuilder builder;
  std::vector<std::string> names;
  ChunkId highest = after;
  const auto visit = [&](const StoredChunk& chunk,
                         std::span<const std::vector<std::uint16_t>> whole) -> Result<void> {
    if (chunk.id <= highest && highest > after)
      return fail(Errc::damaged, "the store returned chunk {} after chunk {}", chunk.id, highest);
    highest = chunk.id;
    if (chunk.id > lexical_reached_.highest) {
      name_terms_of(chunk, names);
      builder.add(chunk.id, chunk.document, base::searched_texts(chunk), names);
    }
    for (std::size_t i = 0; i < vectors_.size() && i < whole.size(); ++i)
      if (chunk.id > vectors_[i]->highest() && whole[i].size() == vectors_[i]->dimensions())
        vectors_[i]->add(chunk.id, chunk.document, whole[i]);
    return {};
  };
  TRY_VOID(store_.each_chunk(info_.id, after, visit));

  highest = std::max(highest, lexical_reached_.highest);
  for (std::size_t i = 0; i < vectors_.size(); ++i) {
    highest = std::max(highest, vectors_[i]->highest());
    vectors_[i]->settle();
  }
  std::shared_ptr<const Segment> added;
  if (builder.size() > 0)
    added = std::make_shared<const Segment>(builder.finish(info_.id, revision, highest));
  lexical_reached_ = {revision, highest};
  for (std::size_t i = 0; i < vectors_.size(); ++i) {
    vectors_[i]->skip_to(highest);
    vectors_reached_[i] = {revision, highest};
  }
  return added;
}

namespace {

// Returns the part with these ranges deleted; the same part if it has none of them.
std::shared_ptr<const LivingPart> without(const std::shared_ptr<const LivingPart>& part,
                                          std::span<const Removed> removed) {
  const auto chunks = part->segment().chunks();
  std::shared_ptr<Bits> dead;
  for (const Removed& range : removed) {
    for (auto at = std::lower_bound(chunks.begin(), chunks.end(), range.first);
         at != chunks.end() && *at <= range.last; ++at) {
      const auto place = static_cast<Place>(at - chunks.begin());
      if (part->is_dead(place)) continue;
      if (!dead)
        dead = part->part().dead ? std::make_shared<Bits>(*part->part().dead)
                                 : std::make_shared<Bits>(chunks.size());
      dead->set(place);
    }
  }
  if (!dead) return part;
  return std::make_shared<const LivingPart>(part->part().segment, std::move(dead));
}

}  // namespace

// The first part is the snapshot's and is kept. Two later parts are merged if the second is not much smaller,
// so the number of parts is logarithmic.
LiveIndex::Parts LiveIndex::parts_after(std::span<const Removed> removed,
                                        std::shared_ptr<const Segment> added) const {
  Parts parts;
  for (const auto& part : state()->lexical->parts()) parts.push_back(without(part, removed));
  if (added) parts.push_back(without(std::make_shared<const LivingPart>(std::move(added), nullptr), removed));
  const std::size_t fixed = has_snapshot_ ? 1 : 0;
  while (parts.size() >= fixed + 2) {
    const auto last = parts.back();
    const auto before = parts[parts.size() - 2];
    if (before->living() > 2 * last->living()) break;
    const std::array<SegmentPart, 2> two{before->part(), last->part()};
    auto merged = std::make_shared<const Segment>(
        merge(two, info_.id, lexical_reached_.revision, lexical_reached_.highest));
    parts.resize(parts.size() - 2);
    parts.push_back(std::make_shared<const LivingPart>(std::move(merged), nullptr));
  }
  return parts;
}

Result<bool> LiveIndex::refresh() {
  const std::lock_guard lock(changing_);
  TRY(IndexInfo now, find());
  const auto is_there = [&](const Reached& reached) { return reached.revision == now.revision; };
  if (is_there(lexical_reached_) && std::all_of(vectors_reached_.begin(), vectors_reached_.end(), is_there))
    return false;
  TRY_VOID(catch_up(now.revision));

  // A store restored from a copy may have another history with the same revision, so the contents are
  // compared.
  TRY(const IndexInfo after, find());
  if (after.revision == now.revision && after.chunks != static_cast<std::int64_t>(size())) {
    log::warning("rebuilding the index: its chunks differ from the store's",
                 {{"index", info_.name}, {"chunks", size()}, {"in_store", after.chunks}});
    forget();
    TRY_VOID(catch_up(after.revision));
  }
  if (wants_snapshot()) {
    if (const auto made = make_snapshot(); !made)
      log::warning("index has no new snapshot", {{"index", info_.name}, {"reason", made.error().what}});
  }
  return true;
}

Result<IndexInfo> LiveIndex::find() {
  TRY(IndexInfo now, store_.find_index(info_.owner, info_.name));
  if (now.id != info_.id) return fail(Errc::not_found, "index '{}' was removed and recreated", info_.name);
  return now;
}

// `revision` was read first: later changes are seen now or at the next refresh, and seeing them twice is
// harmless.
Result<void> LiveIndex::catch_up(Revision revision) {
  TRY(const std::vector<Removed> removed, what_was_removed());
  TRY(auto added, read_new(revision));
  const auto before = state();
  const std::size_t came = added ? added->size() : 0;
  State next;
  next.revision = revision;
  next.lexical = std::make_shared<const Lexical>(parts_after(removed, std::move(added)));
  changed_ += came + (before->lexical->size() + came - next.lexical->size());
  for (std::size_t i = 0; i < vectors_.size(); ++i)
    next.vectors.push_back(vectors_[i]->view(&before->vectors[i], removed));
  publish(std::move(next));
  return {};
}

Result<std::unique_ptr<SnapshotIndex>> open_index(Store& store, const IndexInfo& info,
                                                  const OpenOptions& options) {
  auto index = std::make_unique<LiveIndex>(store, info, options);
  index->load();
  TRY_VOID(index->refresh());
  return std::unique_ptr<SnapshotIndex>(std::move(index));
}

}  // namespace plimsoll::search
