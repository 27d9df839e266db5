// Caches chunks and data derived for scoring between queries: a chunk that was used is likely to be used
// again, and reading it from the store and splitting it into words costs more than scoring it.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plimsoll/store.hpp"

namespace plimsoll::retrieve {

// The words of consecutive sentences without stop words, as hashes of their stems, and what they are worth.
struct SentenceWords {
  std::vector<std::uint64_t> stems;
  std::vector<std::uint32_t> ends;  // by sentence, into `stems`
  std::vector<float> worth;         // of each sentence as evidence, 0 to 1; empty: all are 1

  std::span<const std::uint64_t> of(std::size_t sentence) const {
    const std::size_t begin = sentence == 0 ? 0 : ends[sentence - 1];
    return std::span(stems).subspan(begin, ends[sentence] - begin);
  }
  float worth_of(std::size_t sentence) const { return worth.empty() ? 1 : worth[sentence]; }
};
std::uint64_t stem_hash(std::string_view stem);
// `text` starts at position `start` of the text that the spans refer to.
SentenceWords words_of(std::string_view text, std::uint64_t start, std::span<const Sentence> sentences);

// Norms of sums of a stretch's vectors, for its cosines with a query. In one list: a query reads the norms
// of hundreds of stretches.
struct StretchNorms {
  std::size_t sentences = 0, chunks = 0;
  std::vector<float> values;  // by embedder: near and far by sentence, then by chunk

  std::span<const float> near(std::size_t e) const { return part(e, 0, sentences); }
  std::span<const float> far(std::size_t e) const { return part(e, sentences, sentences); }
  std::span<const float> chunk(std::size_t e) const { return part(e, 2 * sentences, chunks); }

 private:
  std::span<const float> part(std::size_t e, std::size_t from, std::size_t size) const {
    return std::span(values).subspan(e * (2 * sentences + chunks) + from, size);
  }
};

struct ReadChunk {
  StoredChunk stored;
  SentenceWords words;
};

// Thread-safe. The store must outlive it. Ids of chunks and documents are never reused, so entries
// stay valid; `forget` is for data that must not be kept.
class ChunkCache {
 public:
  explicit ChunkCache(Store& store, std::size_t most_bytes = std::size_t{16} << 20)
      : store_(store), most_bytes_(most_bytes) {}

  using Chunks = std::vector<std::shared_ptr<const ReadChunk>>;
  using Heads = std::vector<std::shared_ptr<const DocumentHead>>;

  // Like the store's: ascending, without deleted ones.
  Result<Chunks> chunks(IndexId index, std::span<const ChunkId> ids);
  Result<Heads> heads(IndexId index, std::span<const DocumentId> ids);

  // Maps a document's text to its source file.
  using Origins = std::vector<Origin>;
  Result<std::shared_ptr<const Origins>> origins(IndexId index, DocumentId id);

  // Returns the norms of `count` chunks from `first`, which do not depend on the query; null: not known yet.
  std::shared_ptr<const StretchNorms> norms(IndexId index, ChunkId first, std::size_t count);
  void keep_norms(IndexId index, ChunkId first, std::size_t count, std::shared_ptr<const StretchNorms> norms);

  // Drops all entries of an index.
  void forget(IndexId index);

  std::size_t bytes() const;

 private:
  enum class Kind : std::uint8_t { chunk, head, origins, norms };
  struct Key {
    IndexId index = 0;
    Kind kind = Kind::chunk;
    std::int64_t id = 0;    // of a document or a chunk
    std::size_t count = 1;  // of chunks
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  struct Entry {
    std::shared_ptr<const void> value;  // of its kind
    std::size_t bytes = 0;
    bool used = false;  // since it last became the oldest
  };
  // Call with the mutex held; null: not cached.
  template <typename T>
  std::shared_ptr<const T> find(const Key& key) {
    const auto entry = entries_.find(key);
    if (entry == entries_.end()) return nullptr;
    entry->second.used = true;
    return std::static_pointer_cast<const T>(entry->second.value);
  }
  void keep(const Key& key, std::size_t bytes, std::shared_ptr<const void> value);

  Store& store_;
  std::size_t most_bytes_;
  mutable std::mutex mutex_;
  std::unordered_map<Key, Entry, KeyHash> entries_;
  std::deque<Key> oldest_;  // oldest first. An entry that was used meanwhile moves to the end (second
                            // chance): an exact LRU list would need a write at every read
  std::size_t bytes_ = 0;
  std::uint64_t forgets_ = 0;  // what was read before the last of them is not kept
};

}  // namespace plimsoll::retrieve
