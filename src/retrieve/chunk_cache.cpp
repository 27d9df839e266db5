#include "retrieve/chunk_cache.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/text/words.hpp"
#include "base/try.hpp"
#include "retrieve/clutter.hpp"

namespace plimsoll::retrieve {
namespace {

// Estimated overhead of an entry, including allocator and containers.
constexpr std::size_t entry_bytes = 256;

std::size_t bytes_of(const ReadChunk& chunk) {
  std::size_t bytes = entry_bytes + chunk.stored.text.size() + chunk.stored.path.size() +
                      chunk.stored.chunk.lead.size() +
                      chunk.stored.chunk.sentences.size() * sizeof(Sentence) +
                      chunk.words.stems.size() * sizeof(std::uint64_t);
  for (const ChunkVectors& vectors : chunk.stored.vectors)
    bytes += sizeof(ChunkVectors) + vectors.whole.size() * sizeof(std::uint16_t) +
             vectors.scales.size() * sizeof(float) + vectors.sentences.size();
  return bytes;
}

std::size_t bytes_of(const DocumentHead& head) {
  std::size_t bytes = entry_bytes + sizeof(DocumentHead) + head.key.size() + head.source_hash.size();
  for (const auto& [key, value] : head.metadata) bytes += entry_bytes + key.size() + value.size();
  for (const DocumentSection& section : head.sections)
    bytes += sizeof(DocumentSection) + section.title.size();
  return bytes;
}

}  // namespace

std::uint64_t stem_hash(std::string_view stem) {
  return std::hash<std::string_view>()(stem);
}

SentenceWords words_of(std::string_view text, std::uint64_t start, std::span<const Sentence> sentences) {
  SentenceWords out;
  out.ends.reserve(sentences.size());
  const base::TextLanguage language = base::language_of(text).value_or(base::TextLanguage::english);
  for (const Sentence& sentence : sentences) {
    const std::string_view own = text.substr(sentence.span.start - start, sentence.span.size());
    if (const float worth = worth_of(own); worth < 1) {
      out.worth.resize(sentences.size(), 1);
      out.worth[out.ends.size()] = worth;
    }
    base::WordScanner words(own);
    while (words.next()) {
      const base::StemmedWord word = base::stem_word(words.written(), words.folded(), language);
      if (!word.stop) out.stems.push_back(stem_hash(word.stem));
    }
    out.ends.push_back(static_cast<std::uint32_t>(out.stems.size()));
  }
  return out;
}

std::size_t ChunkCache::KeyHash::operator()(const Key& key) const {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
  std::uint64_t hash = static_cast<std::uint64_t>(key.id);
  for (const std::uint64_t part :
       {static_cast<std::uint64_t>(key.index), static_cast<std::uint64_t>(key.kind),
        static_cast<std::uint64_t>(key.count)})
    hash = (hash ^ part) * golden;
  return hash ^ hash >> 32;
}

void ChunkCache::keep(const Key& key, std::size_t bytes, std::shared_ptr<const void> value) {
  if (!entries_.try_emplace(key, Entry{std::move(value), bytes}).second) return;  // another thread was faster
  bytes_ += bytes;
  oldest_.push_back(key);
  while (bytes_ > most_bytes_) {
    const Key oldest = oldest_.front();
    oldest_.pop_front();
    const auto entry = entries_.find(oldest);
    if (std::exchange(entry->second.used, false)) {
      oldest_.push_back(oldest);
    } else {
      bytes_ -= entry->second.bytes;
      entries_.erase(entry);
    }
  }
}

Result<ChunkCache::Chunks> ChunkCache::chunks(IndexId index, std::span<const ChunkId> ids) {
  Chunks out;
  std::vector<ChunkId> missing;
  std::uint64_t forgets = 0;
  {
    const std::lock_guard lock(mutex_);
    forgets = forgets_;
    for (const ChunkId id : ids) {
      if (auto known = find<ReadChunk>({index, Kind::chunk, id}))
        out.push_back(std::move(known));
      else
        missing.push_back(id);
    }
  }
  if (missing.empty()) return out;
  TRY(auto read, store_.chunks(index, missing));
  Chunks fresh;
  for (StoredChunk& stored : read) {
    SentenceWords words = words_of(stored.text, stored.chunk.span.start, stored.chunk.sentences);
    fresh.push_back(std::make_shared<const ReadChunk>(std::move(stored), std::move(words)));
  }
  const std::lock_guard lock(mutex_);
  for (auto& chunk : fresh) {
    if (forgets == forgets_) keep({index, Kind::chunk, chunk->stored.id}, bytes_of(*chunk), chunk);
    out.push_back(std::move(chunk));
  }
  std::ranges::sort(out, {}, [](const auto& chunk) { return chunk->stored.id; });
  return out;
}

Result<ChunkCache::Heads> ChunkCache::heads(IndexId index, std::span<const DocumentId> ids) {
  Heads out;
  std::vector<DocumentId> missing;
  std::uint64_t forgets = 0;
  {
    const std::lock_guard lock(mutex_);
    forgets = forgets_;
    for (const DocumentId id : ids) {
      if (auto known = find<DocumentHead>({index, Kind::head, id}))
        out.push_back(std::move(known));
      else
        missing.push_back(id);
    }
  }
  if (missing.empty()) return out;
  TRY(auto read, store_.heads(missing));
  const std::lock_guard lock(mutex_);
  for (DocumentHead& head : read) {
    out.push_back(std::make_shared<const DocumentHead>(std::move(head)));
    if (forgets == forgets_) keep({index, Kind::head, out.back()->id}, bytes_of(*out.back()), out.back());
  }
  std::ranges::sort(out, {}, [](const auto& head) { return head->id; });
  return out;
}

Result<std::shared_ptr<const ChunkCache::Origins>> ChunkCache::origins(IndexId index, DocumentId id) {
  const Key key{index, Kind::origins, id};
  std::uint64_t forgets = 0;
  {
    const std::lock_guard lock(mutex_);
    forgets = forgets_;
    if (auto known = find<Origins>(key)) return known;
  }
  TRY(auto read, store_.origins(id));
  auto origins = std::make_shared<const Origins>(std::move(read));
  const std::lock_guard lock(mutex_);
  if (forgets == forgets_) keep(key, entry_bytes + origins->size() * sizeof(Origin), origins);
  return origins;
}

std::shared_ptr<const StretchNorms> ChunkCache::norms(IndexId index, ChunkId first, std::size_t count) {
  const std::lock_guard lock(mutex_);
  return find<StretchNorms>({index, Kind::norms, first, count});
}

void ChunkCache::keep_norms(IndexId index, ChunkId first, std::size_t count,
                            std::shared_ptr<const StretchNorms> norms) {
  const std::size_t bytes = entry_bytes + sizeof(StretchNorms) + norms->values.size() * sizeof(float);
  const std::lock_guard lock(mutex_);
  keep({index, Kind::norms, first, count}, bytes, std::move(norms));
}

void ChunkCache::forget(IndexId index) {
  const std::lock_guard lock(mutex_);
  ++forgets_;
  std::erase_if(oldest_, [&](const Key& key) { return key.index == index; });
  std::erase_if(entries_, [&](const auto& entry) {
    if (entry.first.index != index) return false;
    bytes_ -= entry.second.bytes;
    return true;
  });
}

std::size_t ChunkCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace plimsoll::retrieve
