// The port to the one source of truth: documents, their pieces and vectors, by index. What searches is
// derived from it and can be built anew.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/document.hpp"
#include "plimsoll/embedder.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll {

using IndexId = std::int64_t;
using DocumentId = std::int64_t;
using ChunkId = std::int64_t;   // rising, never used twice; the chunks of one document are consecutive
using Revision = std::int64_t;  // of an index: each change to it makes the next

// What an index is made with. It stays as it is for the index's life.
struct IndexSettings {
  std::string tokenizer = "o200k_base";  // that its pieces are counted with
  Tokens chunk_tokens = 200;
  std::vector<EmbedderInfo> embedders;  // none: lexical search alone
};

struct IndexInfo {
  IndexId id = 0;
  std::string owner;
  std::string name;
  IndexSettings settings;
  Revision revision = 0;
  std::int64_t documents = 0;
  std::int64_t chunks = 0;
  std::int64_t text_bytes = 0;
  std::int64_t tokens = 0;                      // of all chunks
  std::int64_t created_ms = 0, updated_ms = 0;  // UTC
};

// Which index stands under a name, and how far it is.
struct IndexStamp {
  IndexId id = 0;
  Revision revision = 0;
};

// A vector in eight bits a dimension: value = byte * scale.
struct PackedVector {
  float scale = 0;
  std::span<const std::int8_t> values;
};

// What one embedder made of one chunk. Views live as long as the row that holds them.
struct ChunkVectors {
  std::vector<std::uint16_t> whole;    // bf16: the upper half of a float
  std::vector<float> scales;           // by sentence
  std::vector<std::int8_t> sentences;  // sentences * dimensions

  PackedVector sentence(std::size_t i) const {
    const std::size_t dimensions = scales.empty() ? 0 : sentences.size() / scales.size();
    return {scales[i], std::span(sentences).subspan(i * dimensions, dimensions)};
  }
};

struct DocumentWithVectors {
  Document document;
  // By embedder of the index, in its order; each as long as the document's chunks.
  std::vector<std::vector<ChunkVectors>> vectors;
};

// Tells whether a file is in the index and whether it has changed.
struct StoredSource {
  std::string key;
  std::string source_hash;
  FileSource file;
};

// A document that turned out to be a file's.
struct FoundSource {
  std::string key;
  FileSource file;
};

// A document without its text.
struct DocumentHead {
  DocumentId id = 0;
  std::string key;
  FileSource file;
  std::string media_type;
  std::string source_hash;
  std::int64_t source_bytes = 0;
  std::int64_t text_bytes = 0;
  std::int64_t chunks = 0;
  std::int64_t tokens = 0;
  bool addressable = true;
  Metadata metadata;
  ChunkId first_chunk = 0;
  std::int64_t added_ms = 0;
};

// A chunk with its text, as searching needs it.
struct StoredChunk {
  ChunkId id = 0;
  DocumentId document = 0;
  Chunk chunk;                        // spans are of the document's text
  std::string text;                   // [chunk.span)
  std::string path;                   // heading path
  std::vector<ChunkVectors> vectors;  // by embedder of the index; left out by each_chunk
};

struct Removed {
  ChunkId first = 0;  // [first, last]
  ChunkId last = 0;
};

// All of these have to hold: the metadata value of the key, as JSON, equals the one given.
using Filter = Metadata;

// Any thread may call at any time. What a call that changes something has answered is on disk.
// Names that do not exist are not_found; a store that cannot be read or written is io_failed, one that fails
// its checks is damaged.
class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  // bad_input where the owner has one of that name.
  virtual Result<IndexInfo> create_index(std::string_view owner, std::string_view name,
                                         const IndexSettings& settings) = 0;
  virtual Result<IndexInfo> find_index(std::string_view owner, std::string_view name) = 0;
  // The same without its totals, however large it is: for asking at every request.
  virtual Result<IndexStamp> find_stamp(std::string_view owner, std::string_view name) = 0;
  virtual Result<std::vector<IndexInfo>> indexes(std::string_view owner) = 0;  // in the order of their making
  virtual Result<void> remove_index(IndexId index) = 0;

  // All or none of them. A document of the same key is replaced, and one that came from no file takes over
  // the file of the one it replaces. bad_input: the key belongs to a document of another file. The vectors
  // must be of the index's embedders.
  virtual Result<std::vector<DocumentId>> put(IndexId index,
                                              std::span<const DocumentWithVectors> documents) = 0;
  // Those of the keys that were there.
  virtual Result<std::vector<std::string>> remove(IndexId index, std::span<const std::string> keys) = 0;

  virtual Result<std::optional<DocumentHead>> head(IndexId index, std::string_view key) = 0;
  // In the order of their ids, from the one after `after`.
  virtual Result<std::vector<DocumentHead>> documents(IndexId index, const Filter& filter, DocumentId after,
                                                      std::size_t limit) = 0;
  // Of every document.
  virtual Result<std::vector<StoredSource>> sources(IndexId index) = 0;
  // Sets the files of documents; the documents stay as they are, and so does the index's revision.
  virtual Result<void> set_sources(IndexId index, std::span<const FoundSource> found) = 0;
  // Ids of the documents that pass, ascending.
  virtual Result<std::vector<DocumentId>> matching(IndexId index, const Filter& filter) = 0;
  // The document as it was put, and its vectors.
  virtual Result<DocumentWithVectors> document(DocumentId id) = 0;
  virtual Result<std::vector<Origin>> origins(DocumentId id) = 0;
  virtual Result<std::vector<DocumentHead>> heads(std::span<const DocumentId> ids) = 0;
  // The line numbers, from 1, of these bytes of a document's text. `bytes`: ascending.
  virtual Result<std::vector<std::uint64_t>> lines(DocumentId id, std::span<const std::uint64_t> bytes) = 0;

  // Chunks of one index by id, ascending, with their vectors; ids that are gone are left out.
  virtual Result<std::vector<StoredChunk>> chunks(IndexId index, std::span<const ChunkId> ids) = 0;

  // For building an index: every living chunk above `after`, in order, with its vector by embedder. The
  // callback's error ends the walk and is given back.
  using ChunkVisitor = std::function<Result<void>(
      const StoredChunk& chunk, std::span<const std::vector<std::uint16_t>> whole_by_embedder)>;
  virtual Result<void> each_chunk(IndexId index, ChunkId after, const ChunkVisitor& visit) = 0;
  // What went between two revisions. Nothing where that is no longer known: build anew.
  virtual Result<std::optional<std::vector<Removed>>> removed_since(IndexId index, Revision revision) = 0;
  virtual Result<std::vector<ChunkId>> living(IndexId index) = 0;  // ascending

  // Every fault found, as a sentence each; none: the store is sound.
  virtual Result<std::vector<std::string>> verify(IndexId index) = 0;

  // Gives the room of what was removed back to the file system, where it is much.
  virtual Result<void> compact() = 0;

  // From now on it is that owner's, under that name; an index that was, is removed in the same step.
  virtual Result<void> rename_index(IndexId index, std::string_view owner, std::string_view name) = 0;
};

}  // namespace plimsoll
