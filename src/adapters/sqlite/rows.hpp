// What the Store port asks, as work on one connection. Whoever calls owns the transaction.
#pragma once

#include "adapters/sqlite/database.hpp"
#include "plimsoll/store.hpp"

namespace plimsoll::sqlite {

// indexes.cpp
Result<IndexInfo> insert_index(Connection& connection, std::string_view owner, std::string_view name,
                               const IndexSettings& settings);
// Without its totals. not_found names the indexes that there are.
Result<IndexInfo> index_named(Connection& connection, std::string_view owner, std::string_view name);
Result<IndexStamp> stamp_named(Connection& connection, std::string_view owner, std::string_view name);
Result<IndexInfo> index_numbered(Connection& connection, IndexId id);
Result<std::vector<IndexInfo>> all_indexes(Connection& connection, std::string_view owner);
Result<void> delete_index(Connection& connection, IndexId id);
Result<void> rename_index(Connection& connection, IndexId id, std::string_view owner, std::string_view name);
// The next revision, which is the index's from now on.
Result<Revision> bump(Connection& connection, IndexId id);

// write.cpp
Result<DocumentId> insert_document(Connection& connection, const IndexInfo& index, Revision revision,
                                   const DocumentWithVectors& document);
// False: there was none.
Result<bool> delete_document(Connection& connection, const IndexInfo& index, Revision revision,
                             std::string_view key);
Result<void> forget_old_removals(Connection& connection, IndexId index);

// Rewrites the file without its unused pages, where they are a tenth of it or more.
Result<void> vacuum(Connection& connection);
Result<void> update_sources(Connection& connection, IndexId index, std::span<const FoundSource> found);

// read.cpp
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
Result<std::optional<StoredChunk>> select_chunk(Connection& connection,
                                                std::span<const EmbedderInfo> embedders, ChunkId id);
Result<void> walk_chunks(Connection& connection, const IndexInfo& index, ChunkId after,
                         const Store::ChunkVisitor& visit);

// verify.cpp
Result<std::vector<std::string>> find_faults(Connection& connection, const IndexInfo& index);

}  // namespace plimsoll::sqlite
