#include <vector>

#include "adapters/postgres/rows_of_documents.hpp"
#include "base/clock.hpp"
#include "base/documents/stored_document.hpp"

namespace plimsoll::postgres {
namespace {

// Names come from clients and may be longer than an entry of an index of the server: they are found by their
// hash.
constexpr std::string_view is_of_name = "owner = $1 AND sha256(name) = sha256($2)";

// `condition` selects rows of `indexes`, named `i`.
Result<std::vector<IndexInfo>> index_infos(Connection& connection, std::string_view condition,
                                           const Values& values) {
  TRY(const Rows rows,
      connection.run(
          fmt::format("SELECT i.id, i.owner, i.name, i.tokenizer, i.chunk_tokens, i.revision, i.created_ms, "
                      "i.updated_ms, i.documents, i.chunks, i.text_bytes, i.tokens, e.name, e.dimensions, "
                      "e.max_tokens FROM indexes AS i LEFT JOIN embedders AS e ON e.index_id = i.id "
                      "WHERE i.id IN (SELECT id FROM indexes WHERE {}) ORDER BY i.id, e.place",
                      condition),
          values));
  std::vector<IndexInfo> out;
  for (int row = 0; row < rows.count(); ++row) {
    if (out.empty() || out.back().id != rows.integer(row, 0)) {
      IndexInfo info;
      info.id = rows.integer(row, 0);
      info.owner = rows.text(row, 1);
      info.name = rows.text(row, 2);
      info.settings.tokenizer = rows.text(row, 3);
      info.settings.chunk_tokens = rows.integer(row, 4);
      info.revision = rows.integer(row, 5);
      info.created_ms = rows.integer(row, 6);
      info.updated_ms = rows.integer(row, 7);
      info.documents = rows.integer(row, 8);
      info.chunks = rows.integer(row, 9);
      info.text_bytes = rows.integer(row, 10);
      info.tokens = rows.integer(row, 11);
      out.push_back(std::move(info));
    }
    if (rows.is_null(row, 12)) continue;
    out.back().settings.embedders.push_back({.name = rows.text(row, 12),
                                             .dimensions = static_cast<std::uint32_t>(rows.integer(row, 13)),
                                             .max_tokens = rows.integer(row, 14)});
  }
  return out;
}

tl::unexpected<Error> missing_index(Connection& connection, std::string_view owner, std::string_view name) {
  const auto others =
      connection.run("SELECT name FROM indexes WHERE owner = $1 ORDER BY id LIMIT 20", Values().add(owner));
  if (!others) return tl::unexpected(others.error());
  std::vector<std::string> names;
  for (int row = 0; row < others->count(); ++row) names.push_back(others->text(row, 0));
  return base::no_such_index(name, names);
}

}  // namespace

Result<IndexInfo> insert_index(Connection& connection, std::string_view owner, std::string_view name,
                               const IndexSettings& settings) {
  if (name.empty()) return fail(Errc::bad_input, "an index needs a name");
  Values values;
  values.add(owner).add(name).add(std::string_view(settings.tokenizer)).add(settings.chunk_tokens);
  values.add(base::utc_ms());
  TRY(const Rows made,
      connection.run("INSERT INTO indexes (owner, name, tokenizer, chunk_tokens, created_ms, updated_ms) "
                     "VALUES ($1, $2, $3, $4, $5, $5) ON CONFLICT DO NOTHING RETURNING id",
                     values));
  if (made.empty()) return fail(Errc::bad_input, "there is an index called '{}' already", name);
  std::int64_t place = 0;
  for (const EmbedderInfo& info : settings.embedders) {
    Values embedder;
    embedder.add(made.integer(0, 0)).add(place++).add(std::string_view(info.name));
    embedder.add(static_cast<std::int64_t>(info.dimensions)).add(std::int64_t{info.max_tokens});
    TRY_VOID(
        connection.run("INSERT INTO embedders (index_id, place, name, dimensions, max_tokens) "
                       "VALUES ($1, $2, $3, $4, $5)",
                       embedder));
  }
  return index_numbered(connection, made.integer(0, 0));
}

Result<IndexInfo> index_named(Connection& connection, std::string_view owner, std::string_view name) {
  TRY(auto found, index_infos(connection, is_of_name, Values().add(owner).add(name)));
  if (found.empty()) return missing_index(connection, owner, name);
  return std::move(found.front());
}

Result<IndexStamp> stamp_named(Connection& connection, std::string_view owner, std::string_view name) {
  TRY(const Rows found, connection.run(fmt::format("SELECT id, revision FROM indexes WHERE {}", is_of_name),
                                       Values().add(owner).add(name)));
  if (found.empty()) return missing_index(connection, owner, name);
  return IndexStamp{found.integer(0, 0), found.integer(0, 1)};
}

Result<IndexInfo> index_numbered(Connection& connection, IndexId id) {
  TRY(auto found, index_infos(connection, "id = $1", Values().add(id)));
  if (found.empty()) return base::index_is_gone();
  return std::move(found.front());
}

Result<std::vector<IndexInfo>> all_indexes(Connection& connection, std::string_view owner) {
  return index_infos(connection, "owner = $1", Values().add(owner));
}

Result<void> drop_index(Connection& connection, IndexId id) {
  // Waits for a change of the index that is in progress.
  TRY(const Rows gone, connection.run("DELETE FROM indexes WHERE id = $1", Values().add(id)));
  if (gone.changed() == 0) return base::index_is_gone();
  TRY_VOID(connection.run("INSERT INTO dropped_indexes (id) VALUES ($1)", Values().add(id)));
  return {};
}

Result<void> change_name(Connection& connection, IndexId id, std::string_view owner, std::string_view name) {
  if (name.empty()) return fail(Errc::bad_input, "an index needs a name");
  // In the order of their ids, so that two of these do not wait for each other.
  TRY(const Rows locked, connection.run(fmt::format("SELECT id FROM indexes WHERE ({}) OR id = $3 "
                                                    "ORDER BY id FOR UPDATE",
                                                    is_of_name),
                                        Values().add(owner).add(name).add(id)));
  bool is_there = false;
  for (int row = 0; row < locked.count(); ++row) {
    if (locked.integer(row, 0) == id)
      is_there = true;
    else
      TRY_VOID(drop_index(connection, locked.integer(row, 0)));
  }
  if (!is_there) return base::index_is_gone();
  TRY_VOID(connection.run("UPDATE indexes SET owner = $1, name = $2 WHERE id = $3",
                          Values().add(owner).add(name).add(id)));
  return {};
}

Result<bool> sweep_dropped(Connection& connection) {
  constexpr std::int64_t at_once = 5'000;  // rows: a second at most, far from the time limit of a statement
  TRY(const Rows dropped,
      connection.run("SELECT id FROM dropped_indexes ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED"));
  if (dropped.empty()) return false;
  const IndexId index = dropped.integer(0, 0);
  for (const char* sql : {"DELETE FROM chunks WHERE index_id = $1 AND id IN "
                          "(SELECT id FROM chunks WHERE index_id = $1 ORDER BY id LIMIT $2)",
                          "DELETE FROM documents WHERE id IN "
                          "(SELECT id FROM documents WHERE index_id = $1 ORDER BY id LIMIT $2)"}) {
    TRY(const Rows gone, connection.run(sql, Values().add(index).add(at_once)));
    if (gone.changed() == at_once) return true;
  }
  TRY_VOID(connection.run("DELETE FROM dropped_indexes WHERE id = $1", Values().add(index)));
  return true;
}

}  // namespace plimsoll::postgres
