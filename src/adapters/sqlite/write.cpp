#include "adapters/sqlite/rows.hpp"
#include "base/clock.hpp"
#include "base/documents/packing.hpp"
#include "base/documents/stored_document.hpp"
#include "base/try.hpp"

namespace plimsoll::sqlite {
namespace {

// Indexes that are further behind than this are built anew.
constexpr std::int64_t removals_kept = 100'000;

// The file of a document that is about to be put: that of the document it replaces, where it has none itself.
Result<FileSource> file_for(Connection& connection, const IndexInfo& index, const Document& document) {
  TRY(auto row,
      connection.prepare("SELECT file_path, file_root FROM documents WHERE index_id = ? AND key = ?"));
  TRY(const bool found, row.bind(index.id).bind(document.key).step());
  if (!found || row.is_null(0)) return document.file;
  return base::file_after({.path = std::string(row.text(0)), .root = std::string(row.text(1))}, document,
                          index.name);
}

Result<void> insert_chunks(Connection& connection, const IndexInfo& index, DocumentId id,
                           const DocumentWithVectors& put) {
  TRY(auto insert,
      connection.prepare(
          "INSERT INTO chunks (document_id, owner, start, tokens, section, page, lead, path, text, "
          "sentences, vectors) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  const Document& document = put.document;
  ChunkId first = 0;
  std::vector<const ChunkVectors*> vectors(index.settings.embedders.size());
  for (std::size_t c = 0; c < document.chunks.size(); ++c) {
    const Chunk& chunk = document.chunks[c];
    for (std::size_t e = 0; e < vectors.size(); ++e) vectors[e] = &put.vectors[e][c];
    const base::Bytes sentences = base::pack_sentences(chunk);
    const base::Bytes packed = base::pack_vectors(vectors);
    const std::string path = heading_path(document.sections, chunk.section);
    insert.again();
    insert.bind(id).bind(index.owner).bind(static_cast<std::int64_t>(chunk.span.start)).bind(chunk.tokens);
    insert.bind(static_cast<std::int64_t>(chunk.section))
        .bind(static_cast<std::int64_t>(chunk.page))
        .bind(chunk.lead)
        .bind(path);
    insert.bind(std::string_view(document.text).substr(chunk.span.start, chunk.span.size()));
    insert.bind(std::span(sentences)).bind(std::span(packed));
    TRY_VOID(insert.run());
    if (c == 0) first = connection.last_id();
  }
  TRY(auto update, connection.prepare("UPDATE documents SET first_chunk = ? WHERE id = ?"));
  return update.bind(first).bind(id).run();
}

}  // namespace

Result<DocumentId> insert_document(Connection& connection, const IndexInfo& index, Revision revision,
                                   const DocumentWithVectors& put) {
  const Document& document = put.document;
  TRY_VOID(base::check_document(index, put));
  TRY(const FileSource file, file_for(connection, index, document));
  TRY_VOID(delete_document(connection, index, revision, document.key));
  TRY(const std::string metadata, base::metadata_json(document.metadata));
  const base::Bytes sections = base::pack_sections(document.sections);
  const base::Bytes origins = base::pack_origins(document.origins);

  TRY(auto insert, connection.prepare(
                       "INSERT INTO documents (index_id, owner, key, media_type, source_hash, source_bytes, "
                       "text_bytes, tokens, first_chunk, chunks, addressable, metadata, added_ms, sections, "
                       "origins, file_path, file_root) "
                       "VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?)"));
  insert.bind(index.id)
      .bind(index.owner)
      .bind(document.key)
      .bind(document.media_type)
      .bind(document.source_hash);
  insert.bind(static_cast<std::int64_t>(document.source_bytes))
      .bind(static_cast<std::int64_t>(document.text.size()))
      .bind(std::int64_t{base::tokens_of(document)});
  insert.bind(static_cast<std::int64_t>(document.chunks.size()))
      .bind(std::int64_t{document.addressable})
      .bind(metadata)
      .bind(base::utc_ms());
  insert.bind(std::span(sections)).bind(std::span(origins));
  if (file.path)
    insert.bind(*file.path);
  else
    insert.bind_null();
  insert.bind(file.root);
  TRY_VOID(insert.run());
  const DocumentId id = connection.last_id();
  TRY_VOID(insert_chunks(connection, index, id, put));
  return id;
}

Result<bool> delete_document(Connection& connection, const IndexInfo& index, Revision revision,
                             std::string_view key) {
  TRY(auto remove, connection.prepare(
                       "DELETE FROM documents WHERE index_id = ? AND key = ? RETURNING first_chunk, chunks"));
  TRY(const bool found, remove.bind(index.id).bind(key).step());
  if (!found) return false;
  const ChunkId first = remove.integer(0);
  const std::int64_t chunks = remove.integer(1);
  TRY_VOID(remove.run());
  if (chunks > 0) {
    TRY(auto removal, connection.prepare("INSERT INTO removals (index_id, owner, revision, first_chunk, "
                                         "last_chunk) VALUES (?, ?, ?, ?, ?)"));
    removal.bind(index.id).bind(index.owner).bind(revision).bind(first).bind(first + chunks - 1);
    TRY_VOID(removal.run());
  }
  return true;
}

Result<void> forget_old_removals(Connection& connection, IndexId index) {
  TRY(auto count, connection.prepare("SELECT count(*) FROM removals WHERE index_id = ?"));
  TRY_VOID(count.bind(index).step());
  if (count.integer(0) <= 2 * removals_kept) return {};
  TRY(auto edge,
      connection.prepare(
          "SELECT revision FROM removals WHERE index_id = ? ORDER BY revision DESC LIMIT 1 OFFSET ?"));
  TRY_VOID(edge.bind(index).bind(removals_kept).step());
  const Revision oldest = edge.integer(0);
  TRY(auto forget, connection.prepare("DELETE FROM removals WHERE index_id = ? AND revision <= ?"));
  TRY_VOID(forget.bind(index).bind(oldest).run());
  TRY(auto note, connection.prepare("UPDATE indexes SET removals_since = ? WHERE id = ?"));
  return note.bind(oldest).bind(index).run();
}

Result<void> update_sources(Connection& connection, IndexId index, std::span<const FoundSource> found) {
  TRY(auto update,
      connection.prepare("UPDATE documents SET file_path = ?, file_root = ? WHERE index_id = ? AND key = ?"));
  for (const FoundSource& one : found) {
    update.again();
    const std::string_view path = one.file.path ? std::string_view(*one.file.path) : std::string_view{};
    update.bind(path).bind(one.file.root).bind(index).bind(one.key);
    TRY_VOID(update.run());
  }
  return {};
}

Result<void> vacuum(Connection& connection) {
  constexpr std::chrono::milliseconds patience{2'000};
  {
    TRY(auto row, connection.prepare(
                      "SELECT freelist_count, page_count FROM pragma_freelist_count, pragma_page_count"));
    TRY_VOID(row.step());
    if (row.integer(0) * 10 < row.integer(1)) return {};
  }
  // The copy goes to a file: in memory, a large store might not fit.
  TRY_VOID(connection.execute("PRAGMA temp_store = FILE"));
  auto done = connection.execute("VACUUM");
  TRY_VOID(connection.execute("PRAGMA temp_store = MEMORY"));
  if (done) (void)connection.empty_log(patience);  // readers may hold it; the next checkpoint cuts it
  return done;
}

}  // namespace plimsoll::sqlite
