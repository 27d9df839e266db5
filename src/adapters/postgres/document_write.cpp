// Changes of an index. Each holds the lock of the index's row until it is committed, so that the ids of its
// chunks rise in the order in which readers see them.
#include <map>
#include <set>

#include "adapters/postgres/rows_of_documents.hpp"
#include "base/clock.hpp"
#include "base/documents/stored_document.hpp"

namespace plimsoll::postgres {
namespace {

// Indexes that are further behind than this are rebuilt.
constexpr std::int64_t removals_kept = 100'000;
constexpr Revision removals_counted_every = 256;

// A change of one index between its lock and its commit.
struct IndexChange {
  IndexId index = 0;
  Revision revision = 0;                                               // that this change makes
  ChunkId next_chunk = 0;                                              // not in use yet
  std::int64_t documents = 0, chunks = 0, text_bytes = 0, tokens = 0;  // added, or removed if negative

  static Result<IndexChange> begin(Connection& connection, IndexId index) {
    TRY(const Rows row,
        connection.run("SELECT revision + 1, next_chunk FROM indexes WHERE id = $1 FOR NO KEY UPDATE",
                       Values().add(index)));
    if (row.empty()) return base::index_is_gone();
    return IndexChange{.index = index, .revision = row.integer(0, 0), .next_chunk = row.integer(0, 1)};
  }

  Result<void> finish(Connection& connection) const {
    Values values;
    values.add(index).add(revision).add(next_chunk).add(documents).add(chunks).add(text_bytes).add(tokens);
    values.add(base::utc_ms());
    TRY_VOID(connection.run(
        "UPDATE indexes SET revision = $2, next_chunk = $3, documents = documents + $4, "
        "chunks = chunks + $5, text_bytes = text_bytes + $6, tokens = tokens + $7, updated_ms = $8 "
        "WHERE id = $1",
        values));
    return forget_old_removals(connection);
  }

 private:
  Result<void> forget_old_removals(Connection& connection) const {
    if (revision % removals_counted_every != 0) return {};
    TRY(const Rows edge,
        connection.run(
            "SELECT revision FROM removals WHERE index_id = $1 ORDER BY revision DESC LIMIT 1 OFFSET $2",
            Values().add(index).add(removals_kept)));
    if (edge.empty()) return {};
    const Values values = std::move(Values().add(index).add(edge.integer(0, 0)));
    TRY_VOID(connection.run("DELETE FROM removals WHERE index_id = $1 AND revision <= $2", values));
    TRY_VOID(connection.run("UPDATE indexes SET removals_since = $2 WHERE id = $1", values));
    return {};
  }
};

using FilesByKey = std::map<std::string, FileSource, std::less<>>;

// Removes documents with these keys, each given once. Returns those that were there, with their files.
Result<FilesByKey> delete_documents(Connection& connection, IndexChange& change,
                                    std::span<const std::string_view> keys) {
  // A key is found by its hash: it may be longer than an entry of an index of the server.
  TRY(const Rows gone, connection.run(R"sql(
WITH gone AS (
  DELETE FROM documents AS d USING unnest($2::bytea[]) AS given (key)
  WHERE d.index_id = $1 AND sha256(d.key) = sha256(given.key)
  RETURNING d.key, d.first_chunk, d.chunks, d.text_bytes, d.tokens, d.file_path, d.file_root),
without_chunks AS (
  DELETE FROM chunks AS c USING gone
  WHERE c.index_id = $1 AND c.id BETWEEN gone.first_chunk AND gone.first_chunk + gone.chunks - 1),
noted AS (
  INSERT INTO removals (index_id, revision, first_chunk, last_chunk)
  SELECT $1::bigint, $3::bigint, first_chunk, first_chunk + chunks - 1 FROM gone WHERE chunks > 0)
SELECT key, chunks, text_bytes, tokens, file_path, file_root FROM gone)sql",
                                      Values().add(change.index).add_blobs(keys).add(change.revision)));
  FilesByKey out;
  for (int row = 0; row < gone.count(); ++row) {
    --change.documents;
    change.chunks -= gone.integer(row, 1);
    change.text_bytes -= gone.integer(row, 2);
    change.tokens -= gone.integer(row, 3);
    FileSource file{.path = std::nullopt, .root = gone.text(row, 5)};
    if (!gone.is_null(row, 4)) file.path = gone.text(row, 4);
    out.emplace(gone.text(row, 0), std::move(file));
  }
  return out;
}

// Rows of `documents` by column.
struct DocumentColumns {
  std::vector<std::string_view> keys, media_types, source_hashes, file_paths, file_roots;
  std::vector<std::string> metadata, filters;
  std::vector<base::Bytes> sections, origins;
  std::vector<std::int64_t> source_bytes, text_bytes, tokens, first_chunks, chunks, addressable, has_path;
};

std::vector<std::string_view> views_of(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}
std::vector<std::string_view> views_of(const std::vector<base::Bytes>& blobs) {
  std::vector<std::string_view> out;
  for (const base::Bytes& blob : blobs) out.push_back(view_of(blob));
  return out;
}

Result<void> add_document(DocumentColumns& columns, IndexChange& change, const Document& document,
                          const FileSource& file) {
  TRY(columns.metadata.emplace_back(), base::metadata_json(document.metadata));
  TRY(const Metadata canonical, base::canonical(document.metadata));
  std::string& filters = columns.filters.emplace_back();
  for (const auto& [key, value] : canonical) filters += filter_hash(key, value);
  const std::int64_t chunks = std::ssize(document.chunks);
  columns.keys.emplace_back(document.key);
  columns.media_types.emplace_back(document.media_type);
  columns.source_hashes.emplace_back(document.source_hash);
  columns.source_bytes.push_back(static_cast<std::int64_t>(document.source_bytes));
  columns.text_bytes.push_back(std::ssize(document.text));
  columns.tokens.push_back(base::tokens_of(document));
  columns.first_chunks.push_back(chunks > 0 ? change.next_chunk : 0);
  columns.chunks.push_back(chunks);
  columns.addressable.push_back(document.addressable ? 1 : 0);
  columns.sections.push_back(base::pack_sections(document.sections));
  columns.origins.push_back(base::pack_origins(document.origins));
  columns.has_path.push_back(file.path ? 1 : 0);
  columns.file_paths.emplace_back(file.path ? std::string_view(*file.path) : std::string_view());
  columns.file_roots.emplace_back(file.root);
  ++change.documents;
  change.next_chunk += chunks;
  change.chunks += chunks;
  change.text_bytes += columns.text_bytes.back();
  change.tokens += columns.tokens.back();
  return {};
}

Result<std::map<std::string, DocumentId, std::less<>>> insert_documents(Connection& connection, IndexId index,
                                                                        const DocumentColumns& columns) {
  Values values;
  values.add(index).add(base::utc_ms()).add_blobs(columns.keys).add_blobs(columns.media_types);
  values.add_blobs(columns.source_hashes).add(columns.source_bytes).add(columns.text_bytes);
  values.add(columns.tokens).add(columns.first_chunks).add(columns.chunks).add(columns.addressable);
  values.add_blobs(views_of(columns.metadata)).add_blobs(views_of(columns.filters));
  values.add_blobs(views_of(columns.sections)).add_blobs(views_of(columns.origins));
  values.add(columns.has_path).add_blobs(columns.file_paths).add_blobs(columns.file_roots);
  TRY(const Rows made, connection.run(R"sql(
INSERT INTO documents (index_id, added_ms, key, media_type, source_hash, source_bytes, text_bytes, tokens, first_chunk,
  chunks, addressable, metadata, filters, sections, origins, file_path, file_root)
SELECT $1::bigint, $2::bigint, key, media_type, source_hash, source_bytes, text_bytes, tokens, first_chunk, chunks,
  addressable = 1, metadata,
  ARRAY(SELECT substring(filters FROM (32 * i + 1)::int FOR 32) FROM generate_series(0, octet_length(filters) / 32 - 1) AS i),
  sections, origins, CASE WHEN has_path = 1 THEN file_path END, file_root
FROM unnest($3::bytea[], $4::bytea[], $5::bytea[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[],
  $11::bigint[], $12::bytea[], $13::bytea[], $14::bytea[], $15::bytea[], $16::bigint[], $17::bytea[], $18::bytea[])
  WITH ORDINALITY AS given (key, media_type, source_hash, source_bytes, text_bytes, tokens, first_chunk, chunks,
  addressable, metadata, filters, sections, origins, has_path, file_path, file_root, place)
ORDER BY place RETURNING key, id)sql",
                                      values));
  std::map<std::string, DocumentId, std::less<>> ids;
  for (int row = 0; row < made.count(); ++row) ids.emplace(made.text(row, 0), made.integer(row, 1));
  return ids;
}

// Rows of `chunks` by column.
struct ChunkColumns {
  std::vector<std::int64_t> ids, documents, starts, tokens, sections, pages;
  std::vector<std::string_view> leads, texts;
  std::vector<std::string> paths;
  std::vector<base::Bytes> sentences, wholes, sentence_vectors;
  std::size_t bytes = 0;
};

// Collects rows of `chunks` and writes them some megabytes at a time.
class ChunkWriter {
 public:
  ChunkWriter(Connection& connection, IndexId index) : connection_(connection), index_(index) {}

  Result<void> add(DocumentId document, ChunkId first, const DocumentWithVectors& put) {
    constexpr std::size_t most_bytes = std::size_t{4} << 20, most_rows = 2'000;
    std::vector<const ChunkVectors*> vectors(put.vectors.size());
    for (std::size_t c = 0; c < put.document.chunks.size(); ++c) {
      for (std::size_t e = 0; e < vectors.size(); ++e) vectors[e] = &put.vectors[e][c];
      add_chunk(document, first + static_cast<ChunkId>(c), put.document, put.document.chunks[c], vectors);
      if (columns_.bytes >= most_bytes || columns_.ids.size() >= most_rows) TRY_VOID(write());
    }
    return {};
  }

  Result<void> write() {
    const ChunkColumns& all = columns_;
    if (all.ids.empty()) return {};
    Values values;
    values.add(index_).add(all.ids).add(all.documents).add(all.starts).add(all.tokens);
    values.add(all.sections).add(all.pages).add_blobs(all.leads).add_blobs(views_of(all.paths));
    values.add_blobs(all.texts).add_blobs(views_of(all.sentences)).add_blobs(views_of(all.wholes));
    values.add_blobs(views_of(all.sentence_vectors));
    TRY_VOID(connection_.run(
        "INSERT INTO chunks (index_id, id, document_id, start, tokens, section, page, lead, path, text, "
        "sentences, whole, sentence_vectors) SELECT $1::bigint, given.* FROM unnest($2::bigint[], "
        "$3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bytea[], $9::bytea[], "
        "$10::bytea[], $11::bytea[], $12::bytea[], $13::bytea[]) AS given",
        values));
    columns_ = {};
    return {};
  }

 private:
  void add_chunk(DocumentId document, ChunkId id, const Document& of, const Chunk& chunk,
                 std::span<const ChunkVectors* const> vectors) {
    ChunkColumns& all = columns_;
    all.ids.push_back(id);
    all.documents.push_back(document);
    all.starts.push_back(static_cast<std::int64_t>(chunk.span.start));
    all.tokens.push_back(chunk.tokens);
    all.sections.push_back(chunk.section);
    all.pages.push_back(chunk.page);
    all.leads.emplace_back(chunk.lead);
    all.paths.push_back(heading_path(of.sections, chunk.section));
    all.texts.push_back(std::string_view(of.text).substr(chunk.span.start, chunk.span.size()));
    all.sentences.push_back(base::pack_sentences(chunk));
    all.wholes.push_back(base::pack_whole(vectors));
    all.sentence_vectors.push_back(base::pack_sentence_vectors(vectors));
    all.bytes += all.leads.back().size() + all.paths.back().size() + all.texts.back().size() +
                 all.sentences.back().size() + all.wholes.back().size() + all.sentence_vectors.back().size();
  }

  Connection& connection_;
  IndexId index_;
  ChunkColumns columns_;
};

// Puts documents of which no two have the same key.
Result<void> put_different(Connection& connection, const IndexInfo& index, IndexChange& change,
                           std::span<const DocumentWithVectors> documents, std::vector<DocumentId>& ids) {
  std::vector<std::string_view> keys;
  for (const DocumentWithVectors& one : documents) keys.emplace_back(one.document.key);
  TRY(const FilesByKey replaced, delete_documents(connection, change, keys));
  DocumentColumns columns;
  std::vector<FileSource> files(documents.size());
  for (std::size_t d = 0; d < documents.size(); ++d) {
    const Document& document = documents[d].document;
    files[d] = document.file;
    if (const auto before = replaced.find(document.key); before != replaced.end()) {
      TRY(files[d], base::file_after(before->second, document, index.name));
    }
    TRY_VOID(add_document(columns, change, document, files[d]));
  }
  TRY(const auto made, insert_documents(connection, index.id, columns));
  ChunkWriter chunks(connection, index.id);
  for (std::size_t d = 0; d < documents.size(); ++d) {
    ids.push_back(made.at(documents[d].document.key));
    TRY_VOID(chunks.add(ids.back(), columns.first_chunks[d], documents[d]));
  }
  return chunks.write();
}

}  // namespace

Result<std::vector<DocumentId>> put_documents(Connection& connection, const IndexInfo& index,
                                              std::span<const DocumentWithVectors> documents) {
  TRY(IndexChange change, IndexChange::begin(connection, index.id));
  std::vector<DocumentId> ids;
  while (!documents.empty()) {
    std::set<std::string_view> keys;
    std::size_t different = 0;
    while (different < documents.size() && keys.insert(documents[different].document.key).second) ++different;
    TRY_VOID(put_different(connection, index, change, documents.first(different), ids));
    documents = documents.subspan(different);
  }
  TRY_VOID(change.finish(connection));
  return ids;
}

Result<std::vector<std::string>> remove_documents(Connection& connection, IndexId index,
                                                  std::span<const std::string> keys) {
  TRY(IndexChange change, IndexChange::begin(connection, index));
  std::set<std::string_view> different(keys.begin(), keys.end());
  const std::vector<std::string_view> given(different.begin(), different.end());
  TRY(const FilesByKey gone, delete_documents(connection, change, given));
  TRY_VOID(change.finish(connection));
  std::vector<std::string> out;
  for (const std::string& key : keys)
    if (gone.contains(key) && different.erase(key) > 0) out.push_back(key);
  return out;
}

Result<void> update_sources(Connection& connection, IndexId index, std::span<const FoundSource> found) {
  std::vector<std::string_view> keys, paths, roots;
  for (const FoundSource& one : found) {
    keys.emplace_back(one.key);
    paths.emplace_back(one.file.path ? std::string_view(*one.file.path) : std::string_view());
    roots.emplace_back(one.file.root);
  }
  TRY_VOID(connection.run(
      "UPDATE documents AS d SET file_path = given.path, file_root = given.root FROM unnest($2::bytea[], "
      "$3::bytea[], $4::bytea[]) AS given (key, path, root) WHERE d.index_id = $1 AND sha256(d.key) = "
      "sha256(given.key)",
      Values().add(index).add_blobs(keys).add_blobs(paths).add_blobs(roots)));
  return {};
}

}  // namespace plimsoll::postgres
