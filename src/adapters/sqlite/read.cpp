#include <algorithm>

#include "adapters/sqlite/rows.hpp"
#include "base/documents/packing.hpp"
#include "base/documents/stored_document.hpp"
#include "base/try.hpp"

namespace plimsoll::sqlite {
namespace {

constexpr std::string_view head_columns =
    "SELECT id, key, media_type, source_hash, source_bytes, text_bytes, chunks, tokens, addressable, "
    "metadata, "
    "first_chunk, added_ms, file_path, file_root";

// One condition a key. SQLite's json_each gives true and false as 1 and 0, hence the words; the rest is
// compared as JSON text, so that 1 and "1" differ.
constexpr std::string_view passes_filter =
    " AND EXISTS (SELECT 1 FROM json_each(documents.metadata) WHERE key = ? AND "
    "CASE type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' WHEN 'null' THEN 'null' "
    "WHEN 'object' THEN value WHEN 'array' THEN value ELSE json_quote(value) END = ?)";

FileSource file_of_row(const Statement& row, int column) {
  FileSource file{.path = std::nullopt, .root = std::string(row.text(column + 1))};
  if (!row.is_null(column)) file.path = row.text(column);
  return file;
}

Result<DocumentHead> head_of_row(const Statement& row) {
  TRY(auto metadata, base::metadata_of(row.text(9)));
  return DocumentHead{.id = row.integer(0),
                      .key = std::string(row.text(1)),
                      .file = file_of_row(row, 12),
                      .media_type = std::string(row.text(2)),
                      .source_hash = std::string(row.text(3)),
                      .source_bytes = row.integer(4),
                      .text_bytes = row.integer(5),
                      .chunks = row.integer(6),
                      .tokens = row.integer(7),
                      .addressable = row.integer(8) != 0,
                      .metadata = std::move(metadata),
                      .first_chunk = row.integer(10),
                      .added_ms = row.integer(11)};
}

std::string with_conditions(std::string_view start, const Filter& filter, std::string_view end) {
  std::string sql(start);
  for (std::size_t i = 0; i < filter.size(); ++i) sql += passes_filter;
  return sql += end;
}

constexpr std::string_view chunk_by_id =
    "SELECT id, document_id, start, tokens, section, page, lead, path, text, sentences, vectors FROM chunks "
    "WHERE id = ?";
constexpr std::string_view chunks_between =
    "SELECT id, document_id, start, tokens, section, page, lead, path, text, sentences, vectors FROM chunks "
    "WHERE id BETWEEN ? AND ? ORDER BY id";

Result<StoredChunk> chunk_of_row(const Statement& row) {
  StoredChunk out;
  out.id = row.integer(0);
  out.document = row.integer(1);
  out.text = row.text(8);
  out.path = row.text(7);
  const auto start = static_cast<std::uint64_t>(row.integer(2));
  out.chunk.span = {start, start + out.text.size()};
  out.chunk.tokens = static_cast<Tokens>(row.integer(3));
  out.chunk.section = static_cast<std::uint32_t>(row.integer(4));
  out.chunk.page = static_cast<std::uint32_t>(row.integer(5));
  out.chunk.lead = row.text(6);
  TRY(out.chunk.sentences, base::unpack_sentences(row.blob(9), out.chunk.span));
  return out;
}

}  // namespace

Result<std::vector<StoredSource>> select_sources(Connection& connection, IndexId index) {
  TRY(auto row,
      connection.prepare("SELECT key, source_hash, file_path, file_root FROM documents WHERE index_id = ?"));
  row.bind(index);
  std::vector<StoredSource> out;
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return out;
    out.push_back({std::string(row.text(0)), std::string(row.text(1)), file_of_row(row, 2)});
  }
}

Result<std::vector<DocumentHead>> select_heads(Connection& connection, IndexId index, const Filter& filter,
                                               DocumentId after, std::size_t limit) {
  TRY(const auto wanted, base::canonical(filter));
  const std::string sql =
      with_conditions(std::string(head_columns) + " FROM documents WHERE index_id = ? AND id > ?", filter,
                      " ORDER BY id LIMIT ?");
  TRY(auto row, connection.prepare(sql));
  row.bind(index).bind(after);
  for (const auto& [key, value] : wanted) row.bind(std::string_view(key)).bind(std::string_view(value));
  row.bind(static_cast<std::int64_t>(std::min<std::size_t>(limit, std::numeric_limits<std::int64_t>::max())));
  std::vector<DocumentHead> out;
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return out;
    TRY(auto head, head_of_row(row));
    out.push_back(std::move(head));
  }
}

Result<std::vector<DocumentId>> select_matching(Connection& connection, IndexId index, const Filter& filter) {
  TRY(const auto wanted, base::canonical(filter));
  TRY(auto row, connection.prepare(
                    with_conditions("SELECT id FROM documents WHERE index_id = ?", filter, " ORDER BY id")));
  row.bind(index);
  for (const auto& [key, value] : wanted) row.bind(std::string_view(key)).bind(std::string_view(value));
  std::vector<DocumentId> out;
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return out;
    out.push_back(row.integer(0));
  }
}

Result<std::optional<DocumentHead>> select_head(Connection& connection, IndexId index, std::string_view key) {
  TRY(auto row,
      connection.prepare(std::string(head_columns) + " FROM documents WHERE index_id = ? AND key = ?"));
  TRY(const bool found, row.bind(index).bind(key).step());
  if (!found) return std::nullopt;
  TRY(auto head, head_of_row(row));
  return head;
}

Result<std::vector<DocumentHead>> select_heads(Connection& connection, std::span<const DocumentId> ids) {
  TRY(auto row, connection.prepare(std::string(head_columns) + ", sections FROM documents WHERE id = ?"));
  std::vector<DocumentHead> out;
  for (const DocumentId id : ids) {
    row.again();
    TRY(const bool found, row.bind(id).step());
    if (!found) continue;
    TRY(auto head, head_of_row(row));
    TRY(head.sections, base::unpack_sections(row.blob(14)));
    out.push_back(std::move(head));
  }
  return out;
}

Result<std::vector<Origin>> select_origins(Connection& connection, DocumentId id) {
  TRY(auto row, connection.prepare("SELECT origins FROM documents WHERE id = ?"));
  TRY(const bool found, row.bind(id).step());
  if (!found) return base::document_is_gone();
  return base::unpack_origins(row.blob(0));
}

Result<std::vector<std::uint64_t>> select_lines(Connection& connection, DocumentId id,
                                                std::span<const std::uint64_t> bytes) {
  TRY(auto row,
      connection.prepare("SELECT c.start, c.text FROM documents AS d JOIN chunks AS c ON c.id BETWEEN "
                         "d.first_chunk AND d.first_chunk + d.chunks - 1 WHERE d.id = ? ORDER BY c.id"));
  row.bind(id);
  base::LineCounter counter(bytes);
  while (!counter.is_done()) {
    TRY(const bool more, row.step());
    if (!more) break;
    counter.read(static_cast<std::uint64_t>(row.integer(0)), row.text(1));
  }
  return std::move(counter).lines();
}

Result<DocumentWithVectors> select_document(Connection& connection, DocumentId id) {
  TRY(auto row,
      connection.prepare(
          "SELECT key, media_type, source_hash, source_bytes, addressable, metadata, sections, origins, "
          "first_chunk, chunks, index_id, file_path, file_root FROM documents WHERE id = ?"));
  TRY(const bool found, row.bind(id).step());
  if (!found) return base::document_is_gone();
  DocumentWithVectors out;
  Document& document = out.document;
  document.key = row.text(0);
  document.media_type = row.text(1);
  document.source_hash = row.text(2);
  document.source_bytes = static_cast<std::uint64_t>(row.integer(3));
  document.addressable = row.integer(4) != 0;
  TRY(document.metadata, base::metadata_of(row.text(5)));
  TRY(document.sections, base::unpack_sections(row.blob(6)));
  TRY(document.origins, base::unpack_origins(row.blob(7)));
  document.file = file_of_row(row, 11);
  const ChunkId first = row.integer(8);
  const std::int64_t count = row.integer(9);
  TRY(const IndexInfo index, index_numbered(connection, row.integer(10)));
  out.vectors.resize(index.settings.embedders.size());
  TRY(auto chunk, connection.prepare(chunks_between));
  chunk.bind(first).bind(first + count - 1);
  while (true) {
    TRY(const bool more, chunk.step());
    if (!more) return out;
    TRY(auto stored, chunk_of_row(chunk));
    for (std::size_t e = 0; e < out.vectors.size(); ++e) {
      TRY(auto vectors,
          base::unpack_vectors(chunk.blob(10), index.settings.embedders, e, stored.chunk.sentences.size()));
      out.vectors[e].push_back(std::move(vectors));
    }
    document.text += stored.text;
    document.chunks.push_back(std::move(stored.chunk));
  }
}

Result<std::optional<StoredChunk>> select_chunk(Connection& connection,
                                                std::span<const EmbedderInfo> embedders, ChunkId id) {
  TRY(auto row, connection.prepare(chunk_by_id));
  TRY(const bool found, row.bind(id).step());
  if (!found) return std::nullopt;
  TRY(auto chunk, chunk_of_row(row));
  for (std::size_t e = 0; e < embedders.size(); ++e) {
    TRY(auto vectors, base::unpack_vectors(row.blob(10), embedders, e, chunk.chunk.sentences.size()));
    chunk.vectors.push_back(std::move(vectors));
  }
  return chunk;
}

Result<void> walk_chunks(Connection& connection, const IndexInfo& index, ChunkId after,
                         const Store::ChunkVisitor& visit) {
  TRY(auto row,
      connection.prepare("SELECT c.id, c.document_id, c.start, c.tokens, c.section, c.page, c.lead, c.path, "
                         "c.text, c.sentences, "
                         "c.vectors FROM documents AS d CROSS JOIN chunks AS c ON c.id BETWEEN d.first_chunk "
                         "AND d.first_chunk + d.chunks - 1 "
                         "WHERE d.index_id = ?1 AND d.first_chunk > ?2 ORDER BY d.first_chunk, c.id"));
  row.bind(index.id).bind(after);
  std::vector<std::vector<std::uint16_t>> whole(index.settings.embedders.size());
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return {};
    TRY(const auto chunk, chunk_of_row(row));
    for (std::size_t e = 0; e < whole.size(); ++e) {
      TRY(auto vectors, base::unpack_vectors(row.blob(10), index.settings.embedders, e,
                                             chunk.chunk.sentences.size(), /*whole_only=*/true));
      whole[e] = std::move(vectors.whole);
    }
    TRY_VOID(visit(chunk, whole));
  }
}

}  // namespace plimsoll::sqlite
