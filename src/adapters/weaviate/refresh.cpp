// How a collection follows the store.
#include <algorithm>
#include <thread>

#include "adapters/weaviate/remote_index.hpp"
#include "base/json/json_member.hpp"
#include "base/log.hpp"
#include "base/sha256.hpp"
#include "base/try.hpp"

namespace plimsoll::weaviate {
namespace {

std::vector<std::size_t> dimensions_of(const IndexInfo& info) {
  std::vector<std::size_t> out;
  for (const EmbedderInfo& embedder : info.settings.embedders) out.push_back(embedder.dimensions);
  return out;
}

}  // namespace

RemoteIndex::RemoteIndex(HttpClient& http, Store& store, IndexInfo info, const Options& options)
    : store_(store),
      info_(std::move(info)),
      nodes_(http, options),
      collection_(nodes_, collection_name(options.store, info_), info_.settings.embedders.size()) {}

Result<IndexInfo> RemoteIndex::find() {
  TRY(IndexInfo now, store_.find_index(info_.owner, info_.name));
  if (now.id != info_.id) return fail(Errc::not_found, "index '{}' was removed and recreated", info_.name);
  return now;
}

Result<bool> RemoteIndex::refresh() {
  const std::lock_guard lock(changing_);
  {
    TRY(const IndexInfo now, find());
    if (now.revision == revision()) return false;
  }
  std::shared_ptr<const void> turn;
  if (nodes_.options().turn) {
    TRY(turn, nodes_.options().turn());
  }
  TRY(const IndexInfo now, find());  // others may have changed it while this one waited
  TRY(const Progress reached, build(now));
  publish(reached);
  lost_ = false;
  return true;
}

// Brings the collection to the revision of the store; makes it anew if it cannot be continued.
Result<Progress> RemoteIndex::build(const IndexInfo& now) {
  using Condition = Collection::Condition;
  TRY(auto found, collection_.find());
  if (found.condition == Condition::absent) {
    TRY(Progress made, collection_.make(now.revision));
    TRY_VOID(catch_up(made, now.revision));
    return made;
  }
  std::string_view reason = "its data is incomplete or of another version";
  if (found.condition == Condition::usable) {
    Progress& progress = found.progress;
    reason = "it is newer than the store";
    if (progress.revision <= now.revision) {
      if (!progress.is_whole || progress.revision < now.revision) TRY_VOID(catch_up(progress, now.revision));
      progress.chunks = now.chunks;
      TRY(const bool complete, has_all(now));
      if (complete) return progress;
      reason = "its chunks differ from the store's";
    }
  }
  TRY(Progress anew, collection_.make_anew(now.revision));
  log::warning("rebuilding the index", {{"index", info_.name}, {"reason", reason}});
  TRY_VOID(catch_up(anew, now.revision));
  return anew;
}

// `revision` was read first: later changes are seen now or at the next refresh, and seeing them twice is
// harmless.
Result<void> RemoteIndex::catch_up(Progress& progress, Revision revision) {
  TRY_VOID(remove_gone(progress));
  TRY_VOID(add_new(progress));
  progress.revision = revision;
  progress.is_whole = true;
  return collection_.note(progress);
}

Result<void> RemoteIndex::remove_gone(Progress& progress) {
  TRY(const auto removed, store_.removed_since(info_.id, progress.revision));
  if (!removed) {
    log::info("rebuilding the index: the store no longer knows what was removed",
              {{"index", info_.name}, {"since", progress.revision}});
    TRY(const IndexInfo now, find());
    TRY(progress, collection_.make_anew(now.revision));
    return {};
  }
  TRY(const Collection::Erased erased, collection_.erase(*removed));
  progress.chunks -= std::min(erased.chunks, progress.chunks);
  progress.words -= std::min(erased.words, progress.words);
  return {};
}

// Notes its progress now and then, between two documents, so that an import that is interrupted goes on from
// there.
Result<void> RemoteIndex::add_new(Progress& progress) {
  ObjectWriter writer(collection_.name(), dimensions_of(info_));
  BatchSender sender(collection_, nodes_.options());
  std::size_t since_note = 0;
  DocumentId document = 0;
  const auto visit = [&](const StoredChunk& chunk,
                         std::span<const std::vector<std::uint16_t>> whole) -> Result<void> {
    if (chunk.id <= progress.highest)
      return fail(Errc::damaged, "the store returned chunk {} after chunk {}", chunk.id, progress.highest);
    if (since_note >= nodes_.options().checkpoint_objects && chunk.document != document) {
      TRY_VOID(sender.finish());
      TRY_VOID(collection_.note(progress));
      since_note = 0;
    }
    document = chunk.document;
    WrittenObject object = writer.write(chunk, whole);
    progress.highest = chunk.id;
    progress.words += object.words;
    ++progress.chunks;
    ++since_note;
    return sender.add(std::move(object));
  };
  TRY_VOID(store_.each_chunk(info_.id, progress.highest, visit));
  return sender.finish();
}

// Compares the numbers of chunks: a store restored from a copy may have another history with the same
// revision. With copies on several nodes one of them may be late, which is no reason to build everything
// again.
Result<bool> RemoteIndex::has_all(const IndexInfo& now) const {
  constexpr int most_looks = 5;
  constexpr std::chrono::milliseconds pause{200};
  std::int64_t counted = 0;
  for (int looks = 0; looks < most_looks; ++looks) {
    TRY(counted, collection_.count());
    if (counted == now.chunks) return true;
    TRY(const IndexInfo again, store_.find_index(info_.owner, info_.name));
    if (again.revision != now.revision) return true;  // it is changing; the next refresh looks again
    std::this_thread::sleep_for(pause);
  }
  if (nodes_.options().address.replication == 1 || counted == 0) return false;
  log::warning("the index store counts other chunks than the store",
               {{"index", info_.name}, {"chunks", counted}, {"in_store", now.chunks}});
  return true;
}

std::string collection_name(std::string_view store, const IndexInfo& info) {
  return fmt::format("Plimsoll_{}_{}_{:x}", base::sha256_hex(store).substr(0, 16), info.id, info.created_ms);
}

Result<std::unique_ptr<Index>> open_index(HttpClient& http, Store& store, const IndexInfo& info,
                                          const Options& options) {
  auto index = std::make_unique<RemoteIndex>(http, store, info, options);
  TRY_VOID(index->refresh());
  return std::unique_ptr<Index>(std::move(index));
}

Result<void> remove_index(HttpClient& http, const IndexInfo& info, const Options& options) {
  const Nodes nodes(http, options);
  return Collection(nodes, collection_name(options.store, info), info.settings.embedders.size()).remove();
}

Result<std::string> server_version(HttpClient& http, const Options& options) {
  const Nodes nodes(http, options);
  TRY(const Answer answer, nodes.ask("GET", "/v1/meta", {}, nodes.for_search()));
  std::string version = base::text_in(answer.body, "version");
  if (answer.status == 200 && !version.empty()) return version;
  return fail(Errc::upstream_failed, "{} does not answer like Weaviate (status {})", options.address.shown,
              answer.status);
}

}  // namespace plimsoll::weaviate
