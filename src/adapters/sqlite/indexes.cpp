#include "adapters/sqlite/rows.hpp"
#include "base/clock.hpp"
#include "base/documents/stored_document.hpp"
#include "base/try.hpp"

namespace plimsoll::sqlite {
namespace {

constexpr std::string_view index_columns =
    "SELECT id, owner, name, tokenizer, chunk_tokens, revision, created_ms, updated_ms FROM indexes ";

Result<IndexInfo> index_of_row(Connection& connection, const Statement& row) {
  IndexInfo info;
  info.id = row.integer(0);
  info.owner = row.text(1);
  info.name = row.text(2);
  info.settings.tokenizer = row.text(3);
  info.settings.chunk_tokens = static_cast<Tokens>(row.integer(4));
  info.revision = row.integer(5);
  info.created_ms = row.integer(6);
  info.updated_ms = row.integer(7);
  TRY(auto embedders,
      connection.prepare(
          "SELECT name, dimensions, max_tokens FROM embedders WHERE index_id = ? ORDER BY place"));
  embedders.bind(info.id);
  while (true) {
    TRY(const bool more, embedders.step());
    if (!more) break;
    info.settings.embedders.push_back({.name = std::string(embedders.text(0)),
                                       .dimensions = static_cast<std::uint32_t>(embedders.integer(1)),
                                       .max_tokens = static_cast<Tokens>(embedders.integer(2))});
  }
  return info;
}

Result<void> add_totals(Connection& connection, IndexInfo& info) {
  TRY(auto totals,
      connection.prepare("SELECT count(*), coalesce(sum(chunks), 0), coalesce(sum(text_bytes), 0), "
                         "coalesce(sum(tokens), 0) FROM documents WHERE index_id = ?"));
  totals.bind(info.id);
  TRY_VOID(totals.step());
  info.documents = totals.integer(0);
  info.chunks = totals.integer(1);
  info.text_bytes = totals.integer(2);
  info.tokens = totals.integer(3);
  return {};
}

// Why there is no index of that name.
tl::unexpected<Error> no_such_index(Connection& connection, std::string_view owner, std::string_view name) {
  auto others = connection.prepare("SELECT name FROM indexes WHERE owner = ? ORDER BY id LIMIT 20");
  if (!others) return tl::unexpected(others.error());
  others->bind(owner);
  std::vector<std::string> names;
  while (true) {
    const auto more = others->step();
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    names.emplace_back(others->text(0));
  }
  return base::no_such_index(name, names);
}

}  // namespace

Result<IndexInfo> insert_index(Connection& connection, std::string_view owner, std::string_view name,
                               const IndexSettings& settings) {
  if (name.empty()) return fail(Errc::bad_input, "an index needs a name");
  TRY(auto known, connection.prepare("SELECT 1 FROM indexes WHERE owner = ? AND name = ?"));
  TRY(const bool exists, known.bind(owner).bind(name).step());
  if (exists) return fail(Errc::bad_input, "there is an index called '{}' already", name);

  const std::int64_t now = base::utc_ms();
  TRY(auto insert,
      connection.prepare("INSERT INTO indexes (owner, name, tokenizer, chunk_tokens, created_ms, updated_ms) "
                         "VALUES (?, ?, ?, ?, ?, ?)"));
  insert.bind(owner).bind(name).bind(settings.tokenizer).bind(settings.chunk_tokens).bind(now).bind(now);
  TRY_VOID(insert.run());
  const IndexId id = connection.last_id();
  TRY(auto embedder,
      connection.prepare("INSERT INTO embedders (index_id, place, owner, name, dimensions, max_tokens) "
                         "VALUES (?, ?, ?, ?, ?, ?)"));
  std::int64_t place = 0;
  for (const EmbedderInfo& info : settings.embedders) {
    embedder.again();
    embedder.bind(id).bind(place++).bind(owner).bind(info.name);
    embedder.bind(static_cast<std::int64_t>(info.dimensions)).bind(info.max_tokens);
    TRY_VOID(embedder.run());
  }
  return index_numbered(connection, id);
}

Result<IndexInfo> index_named(Connection& connection, std::string_view owner, std::string_view name) {
  TRY(auto row, connection.prepare(std::string(index_columns) + "WHERE owner = ? AND name = ?"));
  TRY(const bool found, row.bind(owner).bind(name).step());
  if (found) {
    TRY(auto info, index_of_row(connection, row));
    TRY_VOID(add_totals(connection, info));
    return info;
  }
  return no_such_index(connection, owner, name);
}

Result<IndexStamp> stamp_named(Connection& connection, std::string_view owner, std::string_view name) {
  TRY(auto row, connection.prepare("SELECT id, revision FROM indexes WHERE owner = ? AND name = ?"));
  TRY(const bool found, row.bind(owner).bind(name).step());
  if (!found) return no_such_index(connection, owner, name);
  return IndexStamp{row.integer(0), row.integer(1)};
}

Result<IndexInfo> index_numbered(Connection& connection, IndexId id) {
  TRY(auto row, connection.prepare(std::string(index_columns) + "WHERE id = ?"));
  TRY(const bool found, row.bind(id).step());
  if (!found) return base::index_is_gone();
  return index_of_row(connection, row);
}

Result<std::vector<IndexInfo>> all_indexes(Connection& connection, std::string_view owner) {
  TRY(auto row, connection.prepare(std::string(index_columns) + "WHERE owner = ? ORDER BY id"));
  row.bind(owner);
  std::vector<IndexInfo> out;
  while (true) {
    TRY(const bool more, row.step());
    if (!more) break;
    TRY(auto info, index_of_row(connection, row));
    TRY_VOID(add_totals(connection, info));
    out.push_back(std::move(info));
  }
  return out;
}

Result<void> delete_index(Connection& connection, IndexId id) {
  TRY(auto remove, connection.prepare("DELETE FROM indexes WHERE id = ?"));
  TRY_VOID(remove.bind(id).run());
  if (connection.changes() == 0) return base::index_is_gone();
  return {};
}

Result<void> rename_index(Connection& connection, IndexId id, std::string_view owner, std::string_view name) {
  if (name.empty()) return fail(Errc::bad_input, "an index needs a name");
  TRY(const IndexInfo info, index_numbered(connection, id));
  TRY(auto in_the_way, connection.prepare("DELETE FROM indexes WHERE owner = ? AND name = ? AND id <> ?"));
  TRY_VOID(in_the_way.bind(owner).bind(name).bind(id).run());
  TRY(auto rename, connection.prepare("UPDATE indexes SET owner = ?, name = ? WHERE id = ?"));
  TRY_VOID(rename.bind(owner).bind(name).bind(id).run());
  if (info.owner == owner) return {};
  for (const char* sql :
       {"UPDATE embedders SET owner = ? WHERE index_id = ?",
        "UPDATE documents SET owner = ? WHERE index_id = ?",
        "UPDATE removals SET owner = ? WHERE index_id = ?",
        "UPDATE chunks SET owner = ? WHERE document_id IN (SELECT id FROM documents WHERE index_id = ?)"}) {
    TRY(auto update, connection.prepare(sql));
    TRY_VOID(update.bind(owner).bind(id).run());
  }
  return {};
}

Result<Revision> bump(Connection& connection, IndexId id) {
  TRY(auto update,
      connection.prepare("UPDATE indexes SET revision = revision + 1, updated_ms = ? WHERE id = ? "
                         "RETURNING revision"));
  TRY(const bool found, update.bind(base::utc_ms()).bind(id).step());
  if (!found) return base::index_is_gone();
  return update.integer(0);
}

}  // namespace plimsoll::sqlite
