#include "adapters/postgres/tables.hpp"

#include <algorithm>
#include <map>

#include "adapters/postgres/rows_of_documents.hpp"
#include "base/documents/stored_document.hpp"

namespace plimsoll::postgres {
namespace {

using base::Cell;
using base::ColumnKind;
using base::CopiedRow;
using base::CopiedTable;

std::size_t place_of(const CopiedTable& table, std::string_view column) {
  return static_cast<std::size_t>(std::ranges::find(table.columns, column, &base::CopiedColumn::name) -
                                  table.columns.begin());
}

std::string_view rows_from(std::string_view table) {
  if (table == "chunks")
    return "documents AS d JOIN chunks AS c ON c.index_id = d.index_id AND c.id BETWEEN d.first_chunk AND "
           "d.first_chunk + d.chunks - 1";
  return table;
}

std::string read_as(std::string_view table, const base::CopiedColumn& column) {
  if (table == "documents" && column.name == "has_path") return "(file_path IS NOT NULL)::int::bigint";
  if (table == "documents" && column.name == "file_path") return "coalesce(file_path, ''::bytea)";
  // [[difference, time], ...]
  if (table == "drift" && column.name == "recent")
    return "convert_to('[' || coalesce((SELECT string_agg('[' || one.d || ',' || one.t || ']', ',' ORDER BY "
           "one.n) FROM unnest(differences, times_ms) WITH ORDINALITY AS one (d, t, n)), '') || ']', 'UTF8')";
  if (table == "chunks") {
    if (column.name == "document_id") return "d.id";
    if (column.name == "place") return "c.id - d.first_chunk";
    if (column.name == "vectors") return "c.whole, c.sentence_vectors, d.index_id";  // see read_vectors
    return fmt::format("c.{}", column.name);
  }
  return column.kind == ColumnKind::boolean ? fmt::format("{}::int::bigint", column.name)
                                            : std::string(column.name);
}

std::string keys_of(const CopiedTable& table) {
  if (table.name == "chunks") return "d.id, c.id";
  std::string out;
  for (std::size_t k = 0; k < table.keys; ++k)
    out += fmt::format("{}{}", k == 0 ? "" : ", ", table.columns[k].name);
  return out;
}

std::string select_sql(const CopiedTable& table, bool is_first) {
  std::string columns, after;
  for (const base::CopiedColumn& column : table.columns)
    columns += (columns.empty() ? "" : ", ") + read_as(table.name, column);
  for (std::size_t k = 0; k < table.keys; ++k) after += fmt::format("{}${}", k == 0 ? "" : ", ", k + 1);
  std::string condition;
  if (!is_first && table.name == "chunks")
    condition = " WHERE d.id >= $1 AND (d.id > $1 OR c.id > d.first_chunk + $2)";
  else if (!is_first)
    condition = fmt::format(" WHERE ({}) > ({})", keys_of(table), after);
  return fmt::format("SELECT {} FROM {}{} ORDER BY {} LIMIT ${}", columns, rows_from(table.name), condition,
                     keys_of(table), is_first ? 1 : table.keys + 1);
}

// The type of a column's array, and how its values are written.
std::string_view array_of(ColumnKind kind) {
  if (kind == ColumnKind::integer || kind == ColumnKind::boolean) return "bigint[]";
  return kind == ColumnKind::real || kind == ColumnKind::text ? "text[]" : "bytea[]";
}
std::string write_as(const base::CopiedColumn& column) {
  if (column.kind == ColumnKind::boolean) return fmt::format("given.{} = 1", column.name);
  if (column.kind == ColumnKind::real) return fmt::format("given.{}::double precision", column.name);
  return fmt::format("given.{}", column.name);
}

// What a row is written as where that is not column by column.
struct Written {
  std::string_view columns, values;
  std::string_view also_from{};
};
Written special_of(std::string_view table) {
  if (table == "indexes") return {"removals_since", "given.revision"};
  if (table == "traces") return {"bytes", "octet_length(given.json)"};
  if (table == "drift")
    return {"differences, times_ms",
            "ARRAY(SELECT (one.pair->>0)::bigint FROM json_array_elements(convert_from(given.recent, "
            "'UTF8')::json) WITH ORDINALITY AS one (pair, n) ORDER BY one.n), "
            "ARRAY(SELECT (one.pair->>1)::bigint FROM json_array_elements(convert_from(given.recent, "
            "'UTF8')::json) WITH ORDINALITY AS one (pair, n) ORDER BY one.n)"};
  if (table == "documents")
    return {
        "file_path, first_chunk, filters",
        "CASE WHEN given.has_path = 1 THEN given.file_path END, "
        "CASE WHEN given.chunks = 0 THEN 0 ELSE greatest(1, coalesce((SELECT d.first_chunk + d.chunks FROM "
        "documents AS d WHERE d.index_id = given.index_id ORDER BY d.first_chunk DESC LIMIT 1), 1)) + "
        "(sum(given.chunks) OVER (PARTITION BY given.index_id ORDER BY given.id) - given.chunks)::bigint "
        "END, ARRAY(SELECT substring(given.filters FROM (32 * i + 1)::int FOR 32) FROM generate_series(0, "
        "octet_length(given.filters) / 32 - 1) AS i)"};
  if (table == "chunks")
    return {"index_id, id, document_id, whole, sentence_vectors",
            "d.index_id, d.first_chunk + given.place, d.id, given.vectors, given.sentence_vectors",
            " JOIN documents AS d ON d.id = given.document_id"};
  return {};
}
bool is_written_as_it_is(std::string_view table, std::string_view column) {
  if (table == "drift") return column != "recent";
  if (table == "documents") return column != "has_path" && column != "file_path";
  if (table == "chunks") return column != "document_id" && column != "place" && column != "vectors";
  return true;
}

// A column that is computed here and given besides the row's own.
std::string_view added_column(std::string_view table) {
  if (table == "documents") return "filters";
  return table == "chunks" ? "sentence_vectors" : "";
}

std::string insert_sql(const CopiedTable& table) {
  std::string columns, values, arrays, names;
  int parameter = 0;
  for (const base::CopiedColumn& column : table.columns) {
    arrays += fmt::format("{}${}::{}", arrays.empty() ? "" : ", ", ++parameter, array_of(column.kind));
    names += fmt::format("{}, ", column.name);
    if (!is_written_as_it_is(table.name, column.name)) continue;
    columns += fmt::format("{}{}", columns.empty() ? "" : ", ", column.name);
    values += (values.empty() ? "" : ", ") + write_as(column);
  }
  if (const std::string_view added = added_column(table.name); !added.empty()) {
    arrays += fmt::format(", ${}::bytea[]", ++parameter);
    names += fmt::format("{}, ", added);
  }
  const Written special = special_of(table.name);
  if (!special.columns.empty()) {
    columns += fmt::format(", {}", special.columns);
    values += fmt::format(", {}", special.values);
  }
  return fmt::format(
      "INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE SELECT {} FROM unnest({}) WITH ORDINALITY AS "
      "given ({}row_order){} ORDER BY given.row_order",
      table.name, columns, values, arrays, names, special.also_from);
}

void add_key(Values& values, const Cell& cell) {
  if (const auto* number = std::get_if<std::int64_t>(&cell))
    values.add(*number);
  else
    values.add(std::string_view(std::get<std::string>(cell)));
}

Cell cell_in(const Rows& rows, int row, int column, ColumnKind kind) {
  switch (kind) {
    case ColumnKind::integer:
    case ColumnKind::boolean: return rows.integer(row, column);
    case ColumnKind::real: return rows.real(row, column);
    default: return rows.text(row, column);
  }
}

class PostgresTables final : public base::TableRows {
 public:
  explicit PostgresTables(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  Result<std::int64_t> count(const CopiedTable& table) override {
    return database_->read([&](Connection& connection) -> Result<std::int64_t> {
      TRY(const Rows rows, connection.run(fmt::format("SELECT count(*) FROM {}", rows_from(table.name))));
      return rows.integer(0, 0);
    });
  }

  Result<std::vector<CopiedRow>> rows(const CopiedTable& table, const CopiedRow& after,
                                      std::int64_t limit) override {
    return database_->read([&](Connection& connection) -> Result<std::vector<CopiedRow>> {
      Values values;
      for (std::size_t k = 0; k < table.keys && !after.empty(); ++k) add_key(values, after[k]);
      values.add(limit);
      TRY(const Rows found, connection.run(select_sql(table, after.empty()), values));
      std::vector<CopiedRow> out;
      for (int row = 0; row < found.count(); ++row) {
        CopiedRow& cells = out.emplace_back();
        for (std::size_t c = 0; c < table.columns.size(); ++c)
          cells.push_back(cell_in(found, row, static_cast<int>(c), table.columns[c].kind));
        if (table.name == "chunks") TRY_VOID(read_vectors(connection, table, found, row, cells));
      }
      return out;
    });
  }

  Result<void> add(const CopiedTable& table, std::span<const CopiedRow> rows) override {
    return database_->written([&](Connection& connection) -> Result<void> {
      std::vector<std::string> added, vectors;
      if (table.name == "documents") TRY_VOID(make_filters(table, rows, added));
      if (table.name == "chunks") TRY_VOID(split_vectors(connection, table, rows, vectors, added));
      Values values;
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const bool is_split = table.name == "chunks" && table.columns[c].name == "vectors";
        if (is_split)
          values.add_blobs(std::vector<std::string_view>(vectors.begin(), vectors.end()));
        else
          add_column(values, rows, c, table.columns[c].kind);
      }
      if (!added_column(table.name).empty())
        values.add_blobs(std::vector<std::string_view>(added.begin(), added.end()));
      TRY(const Rows done, connection.run(insert_sql(table), values));
      if (done.changed() != std::ssize(rows))
        return fail(Errc::damaged, "{} of {} rows of '{}' belong to nothing",
                    std::ssize(rows) - done.changed(), rows.size(), table.name);
      return {};
    });
  }

  Result<void> finish() override {
    return database_->written([](Connection& connection) -> Result<void> {
      TRY_VOID(connection.run(
          "UPDATE indexes AS i SET documents = of.documents, chunks = of.chunks, text_bytes = of.text_bytes, "
          "tokens = of.tokens, next_chunk = greatest(i.next_chunk, of.next_chunk) FROM (SELECT index_id, "
          "count(*) AS documents, sum(chunks)::bigint AS chunks, sum(text_bytes)::bigint AS text_bytes, "
          "sum(tokens)::bigint AS tokens, max(first_chunk + chunks) AS next_chunk FROM documents GROUP BY "
          "index_id) AS of WHERE of.index_id = i.id"));
      for (const auto& [table, column] :
           std::map<std::string_view, std::string_view>{{"keys", "number"},
                                                        {"indexes", "id"},
                                                        {"documents", "id"},
                                                        {"sessions", "id"},
                                                        {"turns", "id"},
                                                        {"summaries", "id"},
                                                        {"runs", "id"},
                                                        {"facts", "id"},
                                                        {"fact_feedback", "id"},
                                                        {"forget_orders", "number"}}) {
        TRY_VOID(connection.run(fmt::format(
            "SELECT setval(pg_get_serial_sequence('{0}', '{1}'), greatest((SELECT max({1}) + 1 FROM "
            "{0}), nextval(pg_get_serial_sequence('{0}', '{1}'))), false)",
            table, column)));
      }
      return {};
    });
  }

 private:
  static void add_column(Values& values, std::span<const CopiedRow> rows, std::size_t column,
                         ColumnKind kind) {
    std::vector<std::int64_t> numbers;
    std::vector<std::string> reals;
    std::vector<std::string_view> texts;
    for (const CopiedRow& row : rows) {
      if (const auto* number = std::get_if<std::int64_t>(&row[column])) numbers.push_back(*number);
      if (const auto* real = std::get_if<double>(&row[column])) reals.push_back(fmt::format("{}", *real));
      if (const auto* text = std::get_if<std::string>(&row[column])) texts.emplace_back(*text);
    }
    if (kind == ColumnKind::integer || kind == ColumnKind::boolean)
      values.add(numbers);
    else if (kind == ColumnKind::real)
      values.add_texts(std::vector<std::string_view>(reals.begin(), reals.end()));
    else if (kind == ColumnKind::text)
      values.add_texts(texts);
    else
      values.add_blobs(texts);
  }

  static Result<void> make_filters(const CopiedTable& table, std::span<const CopiedRow> rows,
                                   std::vector<std::string>& filters) {
    const std::size_t column = place_of(table, "metadata");
    for (const CopiedRow& row : rows) {
      TRY(const Metadata metadata, base::metadata_of(std::get<std::string>(row[column])));
      std::string& hashes = filters.emplace_back();
      for (const auto& [key, value] : metadata) hashes += filter_hash(key, value);
    }
    return {};
  }

  // The embedders of an index, which do not change.
  Result<std::vector<EmbedderInfo>> embedders_of(Connection& connection, IndexId index) {
    const auto known = embedders_.find(index);
    if (known != embedders_.end()) return known->second;
    TRY(IndexInfo info, index_numbered(connection, index));
    return embedders_.emplace(index, std::move(info.settings.embedders)).first->second;
  }

  static Result<std::size_t> sentences_in(const CopiedTable& table, const CopiedRow& row) {
    const auto start = static_cast<std::uint64_t>(std::get<std::int64_t>(row[place_of(table, "start")]));
    const std::string& text = std::get<std::string>(row[place_of(table, "text")]);
    const std::string& packed = std::get<std::string>(row[place_of(table, "sentences")]);
    TRY(const auto sentences,
        base::unpack_sentences(std::as_bytes(std::span(packed)), {start, start + text.size()}));
    return sentences.size();
  }

  // Other stores have the vectors of a chunk in one piece, by embedder.
  Result<void> read_vectors(Connection& connection, const CopiedTable& table, const Rows& rows, int row,
                            CopiedRow& cells) {
    const std::size_t column = place_of(table, "vectors");
    const int whole = static_cast<int>(column);
    TRY(const auto embedders, embedders_of(connection, rows.integer(row, whole + 2)));
    TRY(const std::size_t sentences, sentences_in(table, cells));
    TRY(const auto vectors,
        base::unpack_both(blob_of(rows, row, whole), blob_of(rows, row, whole + 1), embedders, sentences));
    std::vector<const ChunkVectors*> each;
    for (const ChunkVectors& one : vectors) each.push_back(&one);
    cells[column] = std::string(view_of(base::pack_vectors(each)));
    return {};
  }

  Result<void> split_vectors(Connection& connection, const CopiedTable& table,
                             std::span<const CopiedRow> rows, std::vector<std::string>& wholes,
                             std::vector<std::string>& sentence_vectors) {
    std::vector<std::int64_t> documents;
    for (const CopiedRow& row : rows) documents.push_back(std::get<std::int64_t>(row[0]));
    TRY(const Rows found, connection.run("SELECT id, index_id FROM documents WHERE id = ANY ($1::bigint[])",
                                         Values().add(documents)));
    std::map<DocumentId, IndexId> indexes;
    for (int row = 0; row < found.count(); ++row) indexes[found.integer(row, 0)] = found.integer(row, 1);
    const std::size_t column = place_of(table, "vectors");
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const auto index = indexes.find(documents[r]);
      if (index == indexes.end())
        return fail(Errc::damaged, "a chunk belongs to document {}, which is not there", documents[r]);
      TRY(const auto embedders, embedders_of(connection, index->second));
      TRY(const std::size_t sentences, sentences_in(table, rows[r]));
      const auto packed = std::as_bytes(std::span(std::get<std::string>(rows[r][column])));
      std::vector<ChunkVectors> vectors;
      for (std::size_t e = 0; e < embedders.size(); ++e) {
        TRY(auto one, base::unpack_vectors(packed, embedders, e, sentences));
        vectors.push_back(std::move(one));
      }
      std::vector<const ChunkVectors*> each;
      for (const ChunkVectors& one : vectors) each.push_back(&one);
      wholes.emplace_back(view_of(base::pack_whole(each)));
      sentence_vectors.emplace_back(view_of(base::pack_sentence_vectors(each)));
    }
    return {};
  }

  const std::shared_ptr<Database> database_;
  std::map<IndexId, std::vector<EmbedderInfo>> embedders_;
};

}  // namespace

Result<std::unique_ptr<base::TableRows>> open_tables(const Options& options) {
  TRY(auto database, Database::open(options));
  return std::make_unique<PostgresTables>(std::move(database));
}

}  // namespace plimsoll::postgres
