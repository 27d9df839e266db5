// For tests: a store in memory that follows the port's rules for ids, revisions and
// removals.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "plimsoll/store.hpp"

namespace plimsoll::base {

class MemoryStore : public Store {
 public:
  Result<IndexInfo> create_index(std::string_view owner, std::string_view name,
                                 const IndexSettings& settings) override {
    info.id = 7;
    info.owner = owner;
    info.name = name;
    info.settings = settings;
    return info;
  }
  Result<IndexInfo> find_index(std::string_view, std::string_view) override {
    const std::lock_guard lock(mutex_);
    IndexInfo now = info;
    now.chunks = static_cast<std::int64_t>(chunks_.size());
    return now;
  }

  Result<IndexStamp> find_stamp(std::string_view, std::string_view) override {
    const std::lock_guard lock(mutex_);
    return IndexStamp{info.id, info.revision};
  }

  Result<std::vector<DocumentId>> put(IndexId, std::span<const DocumentWithVectors> documents) override {
    const std::lock_guard lock(mutex_);
    ++info.revision;
    std::vector<DocumentId> ids;
    for (const DocumentWithVectors& one : documents) {
      take_out(one.document.key);
      const DocumentId id = next_document_++;
      keys_[one.document.key] = {next_chunk_,
                                 next_chunk_ + static_cast<ChunkId>(one.document.chunks.size()) - 1};
      for (std::size_t i = 0; i < one.document.chunks.size(); ++i) {
        Kept kept;
        kept.chunk.id = next_chunk_++;
        kept.chunk.document = id;
        kept.chunk.chunk = one.document.chunks[i];
        const Span span = kept.chunk.chunk.span;
        kept.chunk.text = one.document.text.substr(span.start, span.size());
        kept.chunk.path = heading;
        for (const auto& by_chunk : one.vectors) kept.whole.push_back(by_chunk[i].whole);
        chunks_[kept.chunk.id] = std::move(kept);
      }
      ids.push_back(id);
    }
    return ids;
  }
  Result<std::vector<std::string>> remove(IndexId, std::span<const std::string> keys) override {
    const std::lock_guard lock(mutex_);
    ++info.revision;
    std::vector<std::string> gone;
    for (const std::string& key : keys)
      if (take_out(key)) gone.push_back(key);
    return gone;
  }

  Result<void> each_chunk(IndexId, ChunkId after, const ChunkVisitor& visit) override {
    std::vector<Kept> some;
    {
      const std::lock_guard lock(mutex_);
      for (auto at = chunks_.upper_bound(after); at != chunks_.end(); ++at) some.push_back(at->second);
    }
    for (const Kept& kept : some) {
      if (fail_at == kept.chunk.id) return fail(Errc::io_failed, "the disk is on fire");
      if (auto done = visit(kept.chunk, kept.whole); !done) return done;
    }
    return {};
  }
  Result<std::optional<std::vector<Removed>>> removed_since(IndexId, Revision revision) override {
    const std::lock_guard lock(mutex_);
    if (revision < removals_since || revision > info.revision) return std::nullopt;
    std::vector<Removed> out;
    for (const auto& [when, range] : removals_)
      if (when > revision) out.push_back(range);
    return out;
  }
  Result<std::vector<ChunkId>> living(IndexId) override {
    const std::lock_guard lock(mutex_);
    std::vector<ChunkId> ids;
    for (const auto& [id, kept] : chunks_) ids.push_back(id);
    return ids;
  }

  Result<std::vector<StoredChunk>> chunks(IndexId, std::span<const ChunkId> ids) override {
    const std::lock_guard lock(mutex_);
    std::vector<StoredChunk> out;
    for (const ChunkId id : ids)
      if (const auto found = chunks_.find(id); found != chunks_.end()) out.push_back(found->second.chunk);
    chunks_read += out.size();
    return out;
  }
  // Only documents that still have chunks, and only their ids.
  Result<std::vector<DocumentHead>> heads(std::span<const DocumentId> ids) override {
    const std::lock_guard lock(mutex_);
    std::vector<DocumentHead> out;
    for (const DocumentId id : ids) {
      const auto has = [id](const auto& chunk) { return chunk.second.chunk.document == id; };
      if (std::any_of(chunks_.begin(), chunks_.end(), has)) out.emplace_back().id = id;
    }
    heads_read += out.size();
    return out;
  }

  // Pretends that the file has as many extra bytes at its start as the document's id.
  Result<std::vector<Origin>> origins(DocumentId id) override {
    const std::lock_guard lock(mutex_);
    ++origins_read;
    return std::vector{Origin{.text = 0, .source = static_cast<std::uint64_t>(id), .bytes = 1'000}};
  }

  Result<std::vector<IndexInfo>> indexes(std::string_view) override { return not_here(); }
  Result<void> remove_index(IndexId) override { return not_here(); }
  Result<void> rename_index(IndexId, std::string_view, std::string_view) override { return not_here(); }
  Result<std::optional<DocumentHead>> head(IndexId, std::string_view) override { return not_here(); }
  Result<std::vector<DocumentHead>> documents(IndexId, const Filter&, DocumentId, std::size_t) override {
    return not_here();
  }
  Result<std::vector<StoredSource>> sources(IndexId) override { return not_here(); }
  Result<std::vector<std::uint64_t>> lines(DocumentId, std::span<const std::uint64_t>) override {
    return not_here();
  }
  Result<void> compact() override { return {}; }
  Result<void> set_sources(IndexId, std::span<const FoundSource>) override { return not_here(); }
  Result<std::vector<DocumentId>> matching(IndexId, const Filter&) override { return not_here(); }
  Result<DocumentWithVectors> document(DocumentId) override { return not_here(); }
  Result<std::vector<std::string>> verify(IndexId) override { return not_here(); }

  IndexInfo info;
  std::string heading;
  Revision removals_since = 0;  // earlier removals are no longer known
  ChunkId fail_at = 0;          // reading fails at this chunk
  std::size_t chunks_read = 0, heads_read = 0, origins_read = 0;

 private:
  struct Kept {
    StoredChunk chunk;
    std::vector<std::vector<std::uint16_t>> whole;
  };
  static tl::unexpected<Error> not_here() { return fail(Errc::unsupported, "no index asks for this"); }

  bool take_out(const std::string& key) {
    const auto found = keys_.find(key);
    if (found == keys_.end()) return false;
    removals_.emplace_back(info.revision, found->second);
    chunks_.erase(chunks_.lower_bound(found->second.first), chunks_.upper_bound(found->second.last));
    keys_.erase(found);
    return true;
  }

  std::mutex mutex_;
  std::map<ChunkId, Kept> chunks_;
  std::map<std::string, Removed, std::less<>> keys_;
  std::vector<std::pair<Revision, Removed>> removals_;
  ChunkId next_chunk_ = 1;
  DocumentId next_document_ = 1;
};

}  // namespace plimsoll::base
