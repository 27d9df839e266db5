// The port to the store, the source of truth: documents, chunks and vectors, by index. Search data is
// derived from it and can be rebuilt.
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
using ChunkId = std::int64_t;   // rising, never reused; the chunks of one document are consecutive
using Revision = std::int64_t;  // of an index: rises with each change

// Settings of an index, fixed when it is created.
struct IndexSettings {
  std::string tokenizer = "o200k_base";  // counts its chunks
  Tokens chunk_tokens = 200;
  std::vector<EmbedderInfo> embedders;  // empty: keyword search only
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

// Id and revision of an index.
struct IndexStamp {
  IndexId id = 0;
  Revision revision = 0;
};

// A vector with eight bits per dimension: value = byte * scale.
struct PackedVector {
  float scale = 0;
  std::span<const std::int8_t> values;
};

// The vectors of one embedder for one chunk. Views are valid as long as their row.
struct ChunkVectors {
  std::vector<std::uint16_t> whole;    // bf16: the upper half of a float
  std::vector<float> scales;           // one per sentence
  std::vector<std::int8_t> sentences;  // sentences * dimensions

  PackedVector sentence(std::size_t i) const {
    const std::size_t dimensions = scales.empty() ? 0 : sentences.size() / scales.size();
    return {scales[i], std::span(sentences).subspan(i * dimensions, dimensions)};
  }
};

struct DocumentWithVectors {
  Document document;
  // One entry per embedder of the index, in its order; each has one element per chunk.
  std::vector<std::vector<ChunkVectors>> vectors;
};

// To find out whether a file is in the index and whether it has changed.
struct StoredSource {
  std::string key;
  std::string source_hash;
  FileSource file;
};

// A document and the file that it belongs to.
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
  std::vector<DocumentSection> sections{};  // Store::heads alone fills it: lists of documents do not need it
};

// A chunk with its text, for searching.
struct StoredChunk {
  ChunkId id = 0;
  DocumentId document = 0;
  Chunk chunk;                        // spans are of the document's text
  std::string text;                   // [chunk.span)
  std::string path;                   // heading path
  std::vector<ChunkVectors> vectors;  // one per embedder of the index; each_chunk leaves it out
};

struct Removed {
  ChunkId first = 0;  // [first, last]
  ChunkId last = 0;
};

// All entries must match: the JSON value of the metadata key equals the given one.
using Filter = Metadata;

// Thread-safe. Changes are on disk when a call returns.
// not_found: unknown name; io_failed: the store cannot be read or written; damaged: it fails
// its checks.
class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  // bad_input: the owner already has an index of this name.
  virtual Result<IndexInfo> create_index(std::string_view owner, std::string_view name,
                                         const IndexSettings& settings) = 0;
  virtual Result<IndexInfo> find_index(std::string_view owner, std::string_view name) = 0;
  // The same without totals, fast for any size: for use in every request.
  virtual Result<IndexStamp> find_stamp(std::string_view owner, std::string_view name) = 0;
  virtual Result<std::vector<IndexInfo>> indexes(std::string_view owner) = 0;  // oldest first
  virtual Result<void> remove_index(IndexId index) = 0;

  // Stores all documents or none. Replaces documents with the same key; a document without a file takes over
  // the file of the replaced one. bad_input: the key belongs to a document of another file. The vectors
  // must be from the index's embedders.
  virtual Result<std::vector<DocumentId>> put(IndexId index,
                                              std::span<const DocumentWithVectors> documents) = 0;
  // Returns the keys that were removed.
  virtual Result<std::vector<std::string>> remove(IndexId index, std::span<const std::string> keys) = 0;

  virtual Result<std::optional<DocumentHead>> head(IndexId index, std::string_view key) = 0;
  // Ordered by id, starting after `after`.
  virtual Result<std::vector<DocumentHead>> documents(IndexId index, const Filter& filter, DocumentId after,
                                                      std::size_t limit) = 0;
  // Returns the sources of all documents.
  virtual Result<std::vector<StoredSource>> sources(IndexId index) = 0;
  // Sets the files of documents; does not change the documents or the revision.
  virtual Result<void> set_sources(IndexId index, std::span<const FoundSource> found) = 0;
  // Returns the ids of matching documents, ascending.
  virtual Result<std::vector<DocumentId>> matching(IndexId index, const Filter& filter) = 0;
  // Returns a document as stored, with its vectors.
  virtual Result<DocumentWithVectors> document(DocumentId id) = 0;
  virtual Result<std::vector<Origin>> origins(DocumentId id) = 0;
  // Returns documents by id, with their sections; unknown ids are left out.
  virtual Result<std::vector<DocumentHead>> heads(std::span<const DocumentId> ids) = 0;
  // Returns the line numbers, from 1, of byte positions in a document's text. `bytes`: ascending.
  virtual Result<std::vector<std::uint64_t>> lines(DocumentId id, std::span<const std::uint64_t> bytes) = 0;

  // Returns chunks by id, ascending, with their vectors; deleted ids are left out.
  virtual Result<std::vector<StoredChunk>> chunks(IndexId index, std::span<const ChunkId> ids) = 0;

  // Visits every chunk above `after`, in order, with its vectors, for building an index. An error of the
  // callback ends the iteration and is returned.
  using ChunkVisitor = std::function<Result<void>(
      const StoredChunk& chunk, std::span<const std::vector<std::uint16_t>> whole_by_embedder)>;
  virtual Result<void> each_chunk(IndexId index, ChunkId after, const ChunkVisitor& visit) = 0;
  // Returns the chunks removed since a revision. None: no longer known, rebuild the index.
  virtual Result<std::optional<std::vector<Removed>>> removed_since(IndexId index, Revision revision) = 0;
  virtual Result<std::vector<ChunkId>> living(IndexId index) = 0;  // ascending

  // Returns one sentence per fault; empty: no faults.
  virtual Result<std::vector<std::string>> verify(IndexId index) = 0;

  // Returns free space to the file system if there is much of it.
  virtual Result<void> compact() = 0;

  // Changes owner and name; replaces an index of that owner and name in the same transaction.
  virtual Result<void> rename_index(IndexId index, std::string_view owner, std::string_view name) = 0;
};

}  // namespace plimsoll
