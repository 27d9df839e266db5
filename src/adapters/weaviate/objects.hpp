// How chunks are kept in a collection: an object for each, and one that says how far the collection has come.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/weaviate/nodes.hpp"
#include "base/documents/chunk_words.hpp"
#include "plimsoll/store.hpp"

namespace plimsoll::weaviate {

// Written with every collection. A collection of another version is rebuilt.
inline constexpr int schema_version = 1;

// The id of an object has the ids of its chunk and its document, so a hit needs no property. Both are below
// 2^60.
std::string object_id(ChunkId chunk, DocumentId document);
struct ObjectIds {
  ChunkId chunk = 0;
  DocumentId document = 0;
};
std::optional<ObjectIds> read_object_id(std::string_view id);

// What a collection reflects. Kept in it, in the object with the ids 0.
struct Progress {
  Revision revision = 0;  // of the store: what was removed before is not there
  ChunkId highest = 0;    // the living chunks up to this one are there
  bool is_whole = false;  // otherwise chunks of that revision may be missing
  std::int64_t chunks = 0;
  std::int64_t words = 0;  // of all chunks, without stop words
};
std::string progress_text(const Progress& progress);
std::optional<Progress> read_progress(std::string_view text);  // none: of another version

struct WrittenObject {
  std::string id;
  std::string json;
  std::int64_t words = 0;
};

// Writes the objects of chunks, which must come in their order.
class ObjectWriter {
 public:
  // `dimensions`: of the embedders.
  ObjectWriter(std::string collection, std::vector<std::size_t> dimensions)
      : collection_(std::move(collection)), dimensions_(std::move(dimensions)) {}

  WrittenObject write(const StoredChunk& chunk,
                      std::span<const std::vector<std::uint16_t>> whole_by_embedder);

 private:
  std::string collection_;
  std::vector<std::size_t> dimensions_;
  base::ChunkLanguage language_;
  std::vector<base::ChunkName> names_;
};

std::string progress_object(std::string_view collection, const Progress& progress);

// The description of a new collection, as JSON. `embedders`: how many vectors a chunk has.
std::string collection_schema(std::string_view collection, std::size_t embedders, const Address& address);
// Whether a collection on the server is one that this version made.
bool is_our_schema(const Json& schema, std::size_t embedders);

}  // namespace plimsoll::weaviate
