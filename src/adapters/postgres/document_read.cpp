#include <algorithm>

#include "adapters/postgres/rows_of_documents.hpp"
#include "base/documents/stored_document.hpp"
#include "base/sha256.hpp"
#include "base/text/text.hpp"

namespace plimsoll::postgres {
namespace {

constexpr std::int64_t documents_at_once = 5'000;

constexpr std::string_view head_columns =
    "d.id, d.key, d.media_type, d.source_hash, d.source_bytes, d.text_bytes, d.chunks, d.tokens, "
    "d.addressable, d.metadata, d.first_chunk, d.added_ms, d.file_path, d.file_root";
// The documents of an index that was removed stay for a moment, and nobody sees them.
constexpr std::string_view has_index = "EXISTS (SELECT FROM indexes AS i WHERE i.id = d.index_id)";

FileSource file_in(const Rows& rows, int row, int column) {
  FileSource file{.path = std::nullopt, .root = rows.text(row, column + 1)};
  if (!rows.is_null(row, column)) file.path = rows.text(row, column);
  return file;
}

Result<DocumentHead> head_in(const Rows& rows, int row) {
  TRY(auto metadata, base::metadata_of(rows.bytes(row, 9)));
  return DocumentHead{.id = rows.integer(row, 0),
                      .key = rows.text(row, 1),
                      .file = file_in(rows, row, 12),
                      .media_type = rows.text(row, 2),
                      .source_hash = rows.text(row, 3),
                      .source_bytes = rows.integer(row, 4),
                      .text_bytes = rows.integer(row, 5),
                      .chunks = rows.integer(row, 6),
                      .tokens = rows.integer(row, 7),
                      .addressable = rows.boolean(row, 8),
                      .metadata = std::move(metadata),
                      .first_chunk = rows.integer(row, 10),
                      .added_ms = rows.integer(row, 11)};
}

Result<std::vector<DocumentHead>> heads_in(const Rows& rows) {
  std::vector<DocumentHead> out;
  for (int row = 0; row < rows.count(); ++row) {
    TRY(auto head, head_in(rows, row));
    out.push_back(std::move(head));
  }
  return out;
}

std::vector<std::string> hashes_of(const Metadata& canonical) {
  std::vector<std::string> out;
  for (const auto& [key, value] : canonical) out.push_back(filter_hash(key, value));
  return out;
}

// `condition` and its parameter, if there is a filter.
std::string with_filter(std::string_view before, std::span<const std::string> hashes, int parameter,
                        std::string_view after) {
  if (hashes.empty()) return fmt::format("{} {}", before, after);
  return fmt::format("{} AND d.filters @> ${}::bytea[] {}", before, parameter, after);
}
void add_filter(Values& values, std::span<const std::string> hashes) {
  if (!hashes.empty()) values.add_blobs(std::vector<std::string_view>(hashes.begin(), hashes.end()));
}

}  // namespace

std::string filter_hash(std::string_view key, std::string_view value) {
  const std::string hex = base::sha256_hex(fmt::format("{}:{}{}", key.size(), key, value));
  std::string out;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    out += static_cast<char>(base::hex_digit(hex[i]) << 4 | base::hex_digit(hex[i + 1]));
  return out;
}

Result<std::vector<StoredSource>> select_sources(Connection& connection, IndexId index) {
  std::vector<StoredSource> out;
  for (DocumentId after = 0;;) {
    TRY(const Rows rows,
        connection.run(
            fmt::format("SELECT d.id, d.key, d.source_hash, d.file_path, d.file_root FROM documents "
                        "AS d WHERE d.index_id = $1 AND d.id > $2 AND {} ORDER BY d.id LIMIT $3",
                        has_index),
            Values().add(index).add(after).add(documents_at_once)));
    if (rows.empty()) return out;
    for (int row = 0; row < rows.count(); ++row)
      out.push_back({rows.text(row, 1), rows.text(row, 2), file_in(rows, row, 3)});
    after = rows.integer(rows.count() - 1, 0);
  }
}

Result<std::vector<DocumentHead>> select_heads(Connection& connection, IndexId index, const Filter& filter,
                                               DocumentId after, std::size_t limit) {
  TRY(const Metadata wanted, base::canonical(filter));
  const std::vector<std::string> hashes = hashes_of(wanted);
  constexpr std::size_t most = std::numeric_limits<std::int64_t>::max();
  Values values;
  values.add(index).add(after).add(static_cast<std::int64_t>(std::min(limit, most)));
  add_filter(values, hashes);
  const std::string start = fmt::format(
      "SELECT {} FROM documents AS d WHERE d.index_id = $1 AND d.id > $2 AND {}", head_columns, has_index);
  TRY(const Rows rows, connection.run(with_filter(start, hashes, 4, "ORDER BY d.id LIMIT $3"), values));
  return heads_in(rows);
}

Result<std::vector<DocumentId>> select_matching(Connection& connection, IndexId index, const Filter& filter) {
  TRY(const Metadata wanted, base::canonical(filter));
  const std::vector<std::string> hashes = hashes_of(wanted);
  Values values;
  values.add(index);
  add_filter(values, hashes);
  const std::string start =
      fmt::format("SELECT d.id FROM documents AS d WHERE d.index_id = $1 AND {}", has_index);
  TRY(const Rows rows, connection.run(with_filter(start, hashes, 2, "ORDER BY d.id"), values));
  std::vector<DocumentId> out;
  for (int row = 0; row < rows.count(); ++row) out.push_back(rows.integer(row, 0));
  return out;
}

Result<std::optional<DocumentHead>> select_head(Connection& connection, IndexId index, std::string_view key) {
  TRY(const Rows rows,
      connection.run(fmt::format("SELECT {} FROM documents AS d WHERE d.index_id = $1 AND sha256(d.key) = "
                                 "sha256($2) AND {}",
                                 head_columns, has_index),
                     Values().add(index).add(key)));
  if (rows.empty()) return std::nullopt;
  TRY(auto head, head_in(rows, 0));
  return head;
}

Result<std::vector<DocumentHead>> select_heads(Connection& connection, std::span<const DocumentId> ids) {
  TRY(const Rows rows,
      connection.run(
          fmt::format("SELECT {}, d.sections FROM unnest($1::bigint[]) WITH ORDINALITY AS wanted (id, place) "
                      "JOIN documents AS d ON d.id = wanted.id WHERE {} ORDER BY wanted.place",
                      head_columns, has_index),
          Values().add(ids)));
  TRY(auto out, heads_in(rows));
  for (std::size_t i = 0; i < out.size(); ++i) {
    TRY(out[i].sections, base::unpack_sections(blob_of(rows, static_cast<int>(i), 14)));
  }
  return out;
}

Result<std::vector<Origin>> select_origins(Connection& connection, DocumentId id) {
  TRY(const Rows rows,
      connection.run(fmt::format("SELECT d.origins FROM documents AS d WHERE d.id = $1 AND {}", has_index),
                     Values().add(id)));
  if (rows.empty()) return base::document_is_gone();
  return base::unpack_origins(blob_of(rows, 0, 0));
}

Result<std::vector<std::uint64_t>> select_lines(Connection& connection, DocumentId id,
                                                std::span<const std::uint64_t> bytes) {
  base::LineCounter counter(bytes);
  if (counter.is_done()) return std::vector<std::uint64_t>();
  const auto last = static_cast<std::int64_t>(
      std::min<std::uint64_t>(bytes.back(), std::numeric_limits<std::int64_t>::max()));
  TRY(const Rows rows,
      connection.run(
          fmt::format("SELECT c.start, c.text FROM documents AS d JOIN chunks AS c ON c.index_id = "
                      "d.index_id AND c.id BETWEEN d.first_chunk AND d.first_chunk + d.chunks - 1 "
                      "WHERE d.id = $1 AND c.start <= $2 AND {} ORDER BY c.id",
                      has_index),
          Values().add(id).add(last)));
  for (int row = 0; row < rows.count(); ++row)
    counter.read(static_cast<std::uint64_t>(rows.integer(row, 0)), rows.bytes(row, 1));
  return std::move(counter).lines();
}

Result<DocumentWithVectors> select_document(Connection& connection, DocumentId id) {
  TRY(const Rows rows,
      connection.run(fmt::format("SELECT d.key, d.media_type, d.source_hash, d.source_bytes, d.addressable, "
                                 "d.metadata, d.sections, d.origins, d.first_chunk, d.chunks, d.index_id, "
                                 "d.file_path, d.file_root FROM documents AS d WHERE d.id = $1 AND {}",
                                 has_index),
                     Values().add(id)));
  if (rows.empty()) return base::document_is_gone();
  DocumentWithVectors out;
  Document& document = out.document;
  document.key = rows.text(0, 0);
  document.media_type = rows.text(0, 1);
  document.source_hash = rows.text(0, 2);
  document.source_bytes = static_cast<std::uint64_t>(rows.integer(0, 3));
  document.addressable = rows.boolean(0, 4);
  TRY(document.metadata, base::metadata_of(rows.bytes(0, 5)));
  TRY(document.sections, base::unpack_sections(blob_of(rows, 0, 6)));
  TRY(document.origins, base::unpack_origins(blob_of(rows, 0, 7)));
  document.file = file_in(rows, 0, 11);
  TRY(const IndexInfo index, index_numbered(connection, rows.integer(0, 10)));
  out.vectors.resize(index.settings.embedders.size());
  constexpr std::int64_t at_once = 1'000;
  ChunkId first = rows.integer(0, 8);
  const ChunkId last = first + rows.integer(0, 9) - 1;
  while (first <= last) {
    TRY(auto chunks, select_chunk_range(connection, index, first, last, at_once));
    if (chunks.empty()) break;
    first = chunks.back().id + 1;
    for (StoredChunk& one : chunks) {
      for (std::size_t e = 0; e < out.vectors.size(); ++e)
        out.vectors[e].push_back(std::move(one.vectors[e]));
      document.text += one.text;
      document.chunks.push_back(std::move(one.chunk));
    }
  }
  return out;
}

}  // namespace plimsoll::postgres
