// What the Store port asks, as work on one connection. The caller owns the transaction.
#pragma once

#include <span>

#include "adapters/postgres/database.hpp"
#include "base/documents/packing.hpp"
#include "plimsoll/store.hpp"

namespace plimsoll::postgres {

inline std::string_view view_of(const base::Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline std::span<const std::byte> blob_of(const Rows& rows, int row, int column) {
  return std::as_bytes(std::span(rows.bytes(row, column)));
}

// indexes.cpp
Result<IndexInfo> insert_index(Connection& connection, std::string_view owner, std::string_view name,
                               const IndexSettings& settings);
// not_found names the indexes that there are.
Result<IndexInfo> index_named(Connection& connection, std::string_view owner, std::string_view name);
Result<IndexStamp> stamp_named(Connection& connection, std::string_view owner, std::string_view name);
Result<IndexInfo> index_numbered(Connection& connection, IndexId id);
Result<std::vector<IndexInfo>> all_indexes(Connection& connection, std::string_view owner);
// The index is gone when this is committed. Its documents are unreachable, and removed by sweep_dropped.
Result<void> drop_index(Connection& connection, IndexId id);
Result<void> change_name(Connection& connection, IndexId id, std::string_view owner, std::string_view name);
// Removes some of the documents and chunks of dropped indexes. False: there are none, or another gateway is
// removing them.
Result<bool> sweep_dropped(Connection& connection);

// document_write.cpp
Result<std::vector<DocumentId>> put_documents(Connection& connection, const IndexInfo& index,
                                              std::span<const DocumentWithVectors> documents);
Result<std::vector<std::string>> remove_documents(Connection& connection, IndexId index,
                                                  std::span<const std::string> keys);
Result<void> update_sources(Connection& connection, IndexId index, std::span<const FoundSource> found);

// document_read.cpp. Those that read page by page need a view of one state.
Result<std::vector<StoredSource>> select_sources(Connection& connection, IndexId index);
Result<std::vector<DocumentHead>> select_heads(Connection& connection, IndexId index, const Filter& filter,
                                               DocumentId after, std::size_t limit);
Result<std::vector<DocumentId>> select_matching(Connection& connection, IndexId index, const Filter& filter);
Result<std::optional<DocumentHead>> select_head(Connection& connection, IndexId index, std::string_view key);
Result<std::vector<DocumentHead>> select_heads(Connection& connection, std::span<const DocumentId> ids);
Result<std::vector<Origin>> select_origins(Connection& connection, DocumentId id);
Result<std::vector<std::uint64_t>> select_lines(Connection& connection, DocumentId id,
                                                std::span<const std::uint64_t> bytes);
Result<DocumentWithVectors> select_document(Connection& connection, DocumentId id);
// A filter's entry as it is stored in `filters`: 32 bytes for a key and a value.
std::string filter_hash(std::string_view key, std::string_view value);

// chunks.cpp
Result<std::vector<StoredChunk>> select_chunks(Connection& connection, const IndexInfo& index,
                                               std::span<const ChunkId> ids);
// Ordered by id, from `first` to `last`, at most `limit`, with their vectors.
Result<std::vector<StoredChunk>> select_chunk_range(Connection& connection, const IndexInfo& index,
                                                    ChunkId first, ChunkId last, std::int64_t limit);
Result<void> walk_chunks(Connection& connection, const IndexInfo& index, ChunkId after,
                         const Store::ChunkVisitor& visit);
Result<std::vector<ChunkId>> select_living(Connection& connection, IndexId index);
Result<std::optional<std::vector<Removed>>> select_removed(Connection& connection, IndexId index,
                                                           Revision since);

// document_verify.cpp
Result<std::vector<std::string>> find_document_faults(Connection& connection, const IndexInfo& index);

}  // namespace plimsoll::postgres
