#include "adapters/postgres/rows_of_documents.hpp"
#include "base/documents/stored_document.hpp"

namespace plimsoll::postgres {
namespace {

constexpr std::string_view chunk_columns =
    "c.id, c.document_id, c.start, c.tokens, c.section, c.page, c.lead, c.path, c.text, c.sentences, c.whole";

Result<StoredChunk> chunk_in(const Rows& rows, int row) {
  StoredChunk out;
  out.id = rows.integer(row, 0);
  out.document = rows.integer(row, 1);
  out.text = rows.text(row, 8);
  out.path = rows.text(row, 7);
  const auto start = static_cast<std::uint64_t>(rows.integer(row, 2));
  out.chunk.span = {start, start + out.text.size()};
  out.chunk.tokens = rows.integer(row, 3);
  out.chunk.section = static_cast<std::uint32_t>(rows.integer(row, 4));
  out.chunk.page = static_cast<std::uint32_t>(rows.integer(row, 5));
  out.chunk.lead = rows.text(row, 6);
  TRY(out.chunk.sentences, base::unpack_sentences(blob_of(rows, row, 9), out.chunk.span));
  return out;
}

// `rows` has the sentences' vectors as well.
Result<std::vector<StoredChunk>> chunks_with_vectors(const Rows& rows, const IndexInfo& index) {
  std::vector<StoredChunk> out;
  for (int row = 0; row < rows.count(); ++row) {
    TRY(auto chunk, chunk_in(rows, row));
    TRY(chunk.vectors, base::unpack_both(blob_of(rows, row, 10), blob_of(rows, row, 11),
                                         index.settings.embedders, chunk.chunk.sentences.size()));
    out.push_back(std::move(chunk));
  }
  return out;
}

}  // namespace

Result<std::vector<StoredChunk>> select_chunks(Connection& connection, const IndexInfo& index,
                                               std::span<const ChunkId> ids) {
  TRY(const Rows rows,
      connection.run(fmt::format("SELECT {}, c.sentence_vectors FROM unnest($2::bigint[]) AS wanted (id) "
                                 "JOIN chunks AS c ON c.index_id = $1 AND c.id = wanted.id ORDER BY c.id",
                                 chunk_columns),
                     Values().add(index.id).add(ids)));
  return chunks_with_vectors(rows, index);
}

Result<std::vector<StoredChunk>> select_chunk_range(Connection& connection, const IndexInfo& index,
                                                    ChunkId first, ChunkId last, std::int64_t limit) {
  TRY(const Rows rows,
      connection.run(fmt::format("SELECT {}, c.sentence_vectors FROM chunks AS c WHERE c.index_id = $1 AND "
                                 "c.id BETWEEN $2 AND $3 ORDER BY c.id LIMIT $4",
                                 chunk_columns),
                     Values().add(index.id).add(first).add(last).add(limit)));
  return chunks_with_vectors(rows, index);
}

Result<void> walk_chunks(Connection& connection, const IndexInfo& index, ChunkId after,
                         const Store::ChunkVisitor& visit) {
  constexpr std::int64_t at_once = 1'000;  // about 2 MB
  const std::string sql = fmt::format(
      "SELECT {} FROM chunks AS c WHERE c.index_id = $1 AND c.id > $2 ORDER BY c.id LIMIT $3", chunk_columns);
  while (true) {
    TRY(const Rows rows, connection.run(sql, Values().add(index.id).add(after).add(at_once)));
    for (int row = 0; row < rows.count(); ++row) {
      TRY(const StoredChunk chunk, chunk_in(rows, row));
      TRY(const auto whole, base::unpack_whole(blob_of(rows, row, 10), index.settings.embedders));
      TRY_VOID(visit(chunk, whole));
      after = chunk.id;
    }
    if (rows.count() < at_once) return {};
  }
}

Result<std::vector<ChunkId>> select_living(Connection& connection, IndexId index) {
  TRY(const Rows rows, connection.run("SELECT first_chunk, chunks FROM documents WHERE index_id = $1 "
                                      "AND EXISTS (SELECT FROM indexes WHERE id = $1) ORDER BY first_chunk",
                                      Values().add(index)));
  std::vector<ChunkId> out;
  for (int row = 0; row < rows.count(); ++row)
    for (std::int64_t i = 0; i < rows.integer(row, 1); ++i) out.push_back(rows.integer(row, 0) + i);
  return out;
}

Result<std::optional<std::vector<Removed>>> select_removed(Connection& connection, IndexId index,
                                                           Revision since) {
  TRY(const Rows rows,
      connection.run("SELECT i.removals_since, i.revision, r.first_chunk, r.last_chunk FROM indexes AS i "
                     "LEFT JOIN removals AS r ON r.index_id = i.id AND r.revision > $2 WHERE i.id = $1",
                     Values().add(index).add(since)));
  if (rows.empty()) return base::index_is_gone();
  if (since < rows.integer(0, 0) || since > rows.integer(0, 1)) return std::nullopt;
  std::vector<Removed> out;
  for (int row = 0; row < rows.count(); ++row)
    if (!rows.is_null(row, 2)) out.push_back({rows.integer(row, 2), rows.integer(row, 3)});
  return out;
}

}  // namespace plimsoll::postgres
