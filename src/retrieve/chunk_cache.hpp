// Chunks as scoring reads them and what scoring made of them, kept between queries: a chunk that was looked
// at is likely to be looked at again, and reading it from the store and taking its words apart costs more
// than scoring it.
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

// The words of consecutive sentences that are no stop words, as hashes of their stems.
struct SentenceWords {
  std::vector<std::uint64_t> stems;
  std::vector<std::uint32_t> ends;  // by sentence, into `stems`

  std::span<const std::uint64_t> of(std::size_t sentence) const {
    const std::size_t begin = sentence == 0 ? 0 : ends[sentence - 1];
    return std::span(stems).subspan(begin, ends[sentence] - begin);
  }
};
std::uint64_t stem_hash(std::string_view stem);
// `text` starts at `start` of the text that the sentences' spans are of.
SentenceWords words_of(std::string_view text, std::uint64_t start, std::span<const Sentence> sentences);

// Lengths of sums of a stretch's vectors that its cosines with a query are divided by. In one list: a query
// reads those of hundreds of stretches.
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

// Any thread may call at any time. The store outlives it. Ids of chunks and documents are never used twice,
// so that what is kept stays right; `forget` is for what shall not be kept.
class ChunkCache {
 public:
  explicit ChunkCache(Store& store, std::size_t most_bytes = std::size_t{16} << 20)
      : store_(store), most_bytes_(most_bytes) {}

  using Chunks = std::vector<std::shared_ptr<const ReadChunk>>;
  using Heads = std::vector<std::shared_ptr<const DocumentHead>>;

  // As the store's: ascending, those that are gone left out.
  Result<Chunks> chunks(IndexId index, std::span<const ChunkId> ids);
  Result<Heads> heads(IndexId index, std::span<const DocumentId> ids);

  // Where a document's text stands in the file that it was read from.
  using Origins = std::vector<Origin>;
  Result<std::shared_ptr<const Origins>> origins(IndexId index, DocumentId id);

  // What no query changes of the cosines of so many chunks from `first` on; null: not known yet.
  std::shared_ptr<const StretchNorms> norms(IndexId index, ChunkId first, std::size_t count);
  void keep_norms(IndexId index, ChunkId first, std::size_t count, std::shared_ptr<const StretchNorms> norms);

  // All that is kept of an index.
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
    bool used = false;  // since it was last the oldest
  };
  // Both with the mutex held; null: not there.
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
  std::deque<Key> oldest_;  // first. One that was used meanwhile goes to the end instead of away: a list by
                            // the last use would have to be written at every reading
  std::size_t bytes_ = 0;
};

}  // namespace plimsoll::retrieve
