#include "adapters/sqlite/tables.hpp"

#include <algorithm>
#include <optional>

#include "adapters/sqlite/database.hpp"
#include "adapters/sqlite/shared_database.hpp"
#include "base/try.hpp"

namespace plimsoll::sqlite {
namespace {

using base::Cell;
using base::ColumnKind;
using base::CopiedRow;
using base::CopiedTable;

// What a table has beyond what is copied: columns, and their values from the row's parameters.
struct Derived {
  std::string_view columns, values;
};
Derived derived_of(std::string_view table) {
  if (table == "indexes") return {", removals_since", ", :revision"};
  if (table == "embedders") return {", owner", ", (SELECT owner FROM indexes WHERE id = :index_id)"};
  if (table == "documents")
    return {", owner, first_chunk", ", (SELECT owner FROM indexes WHERE id = :index_id), :first_chunk"};
  if (table == "chunks")
    return {", id, owner",
            ", (SELECT first_chunk + :place FROM documents WHERE id = :document_id), (SELECT owner FROM "
            "documents WHERE id = :document_id)"};
  // No two facts share a page (facts.cpp).
  if (table == "facts")
    return {", padding", ", zeroblob(max(0, 4160 - length(CAST(:text AS BLOB)) - length(:vector)))"};
  if (table == "traces") return {", bytes", ", length(CAST(:json AS BLOB))"};
  return {};
}

std::string_view rows_from(std::string_view table) {
  if (table == "chunks")
    return "documents AS d CROSS JOIN chunks AS c ON c.id BETWEEN d.first_chunk AND d.first_chunk + d.chunks "
           "- 1";
  return table;
}

std::string read_as(std::string_view table, std::string_view column) {
  if (table == "documents" && column == "has_path") return "file_path IS NOT NULL";
  if (table == "documents" && column == "file_path") return "coalesce(file_path, '')";
  if (table != "chunks") return std::string(column);
  if (column == "document_id") return "d.id";
  if (column == "place") return "c.id - d.first_chunk";
  return fmt::format("c.{}", column);
}

// Column `n` is parameter n + 1.
std::string parameter(const CopiedTable& table, std::string_view column) {
  const auto found = std::ranges::find(table.columns, column, &base::CopiedColumn::name);
  return fmt::format("?{}", found - table.columns.begin() + 1);
}

std::string keys_of(const CopiedTable& table) {
  std::string out;
  for (std::size_t k = 0; k < table.keys; ++k)
    out += (k == 0 ? "" : ", ") + read_as(table.name, table.columns[k].name);
  return out;
}

std::string select_sql(const CopiedTable& table, bool is_first) {
  std::string sql = "SELECT ", after = "(";
  for (const base::CopiedColumn& column : table.columns)
    sql += (sql.size() > 7 ? ", " : "") + read_as(table.name, column.name);
  sql += fmt::format(" FROM {}", rows_from(table.name));
  for (std::size_t k = 0; k < table.keys; ++k) after += fmt::format("{}?{}", k == 0 ? "" : ", ", k + 1);
  if (!is_first && table.name == "chunks")
    sql += " WHERE d.id >= ?1 AND (d.id > ?1 OR c.id > d.first_chunk + ?2)";
  else if (!is_first)
    sql += fmt::format(" WHERE ({}) > {})", keys_of(table), after);
  const std::string order = table.name == "chunks" ? "d.id, c.id" : keys_of(table);
  return sql + fmt::format(" ORDER BY {} LIMIT ?{}", order, is_first ? 1 : table.keys + 1);
}

std::string insert_sql(const CopiedTable& table) {
  std::string columns, values;
  for (const base::CopiedColumn& column : table.columns) {
    const bool is_document = table.name == "documents",
               is_place = table.name == "chunks" && column.name == "place";
    if (is_place || (is_document && column.name == "has_path")) continue;
    columns += fmt::format("{}{}", columns.empty() ? "" : ", ", column.name);
    std::string value = parameter(table, column.name);
    if (is_document && column.name == "file_path")
      value = fmt::format("CASE WHEN {} THEN {} END", parameter(table, "has_path"), value);
    values += (values.empty() ? "" : ", ") + value;
  }
  const Derived derived = derived_of(table.name);
  std::string derived_values(derived.values);
  for (std::size_t at = derived_values.find(':'); at != std::string::npos; at = derived_values.find(':')) {
    const std::size_t end = std::min(derived_values.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at + 1),
                                     derived_values.size());
    const std::string name = derived_values.substr(at + 1, end - at - 1);
    derived_values.replace(at, end - at, parameter(table, name));  // first_chunk: the one after the last
  }
  return fmt::format("INSERT INTO {} ({}{}) VALUES ({}{})", table.name, columns, derived.columns, values,
                     derived_values);
}

void bind_cell(Statement& statement, const Cell& cell, ColumnKind kind) {
  if (const auto* number = std::get_if<std::int64_t>(&cell)) {
    statement.bind(*number);
  } else if (const auto* real = std::get_if<double>(&cell)) {
    statement.bind(*real);
  } else if (kind == ColumnKind::blob) {
    statement.bind(std::as_bytes(std::span(std::get<std::string>(cell))));
  } else {
    statement.bind(std::string_view(std::get<std::string>(cell)));
  }
}

Cell cell_in(const Statement& row, int column, ColumnKind kind) {
  switch (kind) {
    case ColumnKind::integer:
    case ColumnKind::boolean: return row.integer(column);
    case ColumnKind::real: return row.real(column);
    case ColumnKind::text:
    case ColumnKind::name: return std::string(row.text(column));
    case ColumnKind::blob: break;
  }
  const auto bytes = row.blob(column);
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

class SqliteTables final : public base::TableRows {
 public:
  explicit SqliteTables(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  bool is_readable() { return count(base::copied_tables().front()).has_value(); }

  Result<std::int64_t> count(const CopiedTable& table) override {
    return database_->viewed([&](Connection& connection) -> Result<std::int64_t> {
      TRY(auto row, connection.prepare(fmt::format("SELECT count(*) FROM {}", rows_from(table.name))));
      TRY_VOID(row.step());
      return row.integer(0);
    });
  }

  Result<std::vector<CopiedRow>> rows(const CopiedTable& table, const CopiedRow& after,
                                      std::int64_t limit) override {
    return database_->viewed([&](Connection& connection) -> Result<std::vector<CopiedRow>> {
      TRY(auto row, connection.prepare(select_sql(table, after.empty())));
      for (std::size_t k = 0; k < table.keys && !after.empty(); ++k)
        bind_cell(row, after[k], table.columns[k].kind);
      row.bind(limit);
      std::vector<CopiedRow> out;
      while (true) {
        TRY(const bool more, row.step());
        if (!more) return out;
        CopiedRow& cells = out.emplace_back();
        for (std::size_t c = 0; c < table.columns.size(); ++c)
          cells.push_back(cell_in(row, static_cast<int>(c), table.columns[c].kind));
      }
    });
  }

  Result<void> add(const CopiedTable& table, std::span<const CopiedRow> rows) override {
    const bool is_document = table.name == "documents";
    std::int64_t next_chunk = 0;
    const auto done = database_->written([&](Connection& connection) -> Result<void> {
      if (is_document) {
        TRY(next_chunk, next_chunk_ ? *next_chunk_ : first_free_chunk(connection));
      }
      TRY(auto insert, connection.prepare(insert_sql(table)));
      const auto chunks = std::ranges::find(table.columns, "chunks", &base::CopiedColumn::name);
      for (const CopiedRow& row : rows) {
        insert.again();
        for (std::size_t c = 0; c < row.size(); ++c) bind_cell(insert, row[c], table.columns[c].kind);
        if (is_document) {
          const auto count =
              std::get<std::int64_t>(row[static_cast<std::size_t>(chunks - table.columns.begin())]);
          insert.bind(count > 0 ? next_chunk : 0);
          next_chunk += count;
        }
        TRY_VOID(insert.run());
      }
      return {};
    });
    if (done && is_document) next_chunk_ = next_chunk;
    return done;
  }

  Result<void> finish() override { return {}; }

 private:
  static Result<std::int64_t> first_free_chunk(Connection& connection) {
    TRY(auto row, connection.prepare("SELECT coalesce(max(first_chunk + chunks), 1) FROM documents"));
    TRY_VOID(row.step());
    return std::max<std::int64_t>(1, row.integer(0));
  }

  const std::shared_ptr<Database> database_;
  std::optional<std::int64_t> next_chunk_;  // not in use yet; none: not known
};

}  // namespace

Result<std::unique_ptr<base::TableRows>> open_tables(const std::filesystem::path& file,
                                                     const OpenOptions& options) {
  return open_as_allowed<SqliteTables>(file, options, "it is the file of a store",
                                       [](SqliteTables& tables) { return tables.is_readable(); });
}

}  // namespace plimsoll::sqlite
