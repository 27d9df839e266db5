#include "adapters/sqlite/schema.hpp"

#include "base/try.hpp"

namespace plimsoll::sqlite {
namespace {

// Migration i brings a file of version i to version i + 1. A migration that was released is never changed.
//
// AUTOINCREMENT: an id that was used once is never used again, so that an index which has not heard of a
// deletion finds nothing instead of something else. The chunks of a document have consecutive ids; their
// texts in a row are the document's text. Vectors stand in the chunk's row, last: what one search needs of
// a chunk is read in one go.
constexpr const char* migrations[] = {
    R"sql(
CREATE TABLE indexes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  tokenizer TEXT NOT NULL,
  chunk_tokens INTEGER NOT NULL,
  revision INTEGER NOT NULL DEFAULT 0,
  removals_since INTEGER NOT NULL DEFAULT 0,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  UNIQUE (owner, name)
) STRICT;
CREATE TABLE embedders (
  index_id INTEGER NOT NULL REFERENCES indexes (id) ON DELETE CASCADE,
  place INTEGER NOT NULL,
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  max_tokens INTEGER NOT NULL,
  PRIMARY KEY (index_id, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE documents (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  index_id INTEGER NOT NULL REFERENCES indexes (id) ON DELETE CASCADE,
  owner TEXT NOT NULL,
  key TEXT NOT NULL,
  media_type TEXT NOT NULL,
  source_hash TEXT NOT NULL,
  source_bytes INTEGER NOT NULL,
  text_bytes INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  first_chunk INTEGER NOT NULL,
  chunks INTEGER NOT NULL,
  addressable INTEGER NOT NULL,
  metadata TEXT NOT NULL,
  added_ms INTEGER NOT NULL,
  sections BLOB NOT NULL,
  origins BLOB NOT NULL,
  UNIQUE (index_id, key)
) STRICT;
CREATE INDEX documents_by_chunk ON documents (index_id, first_chunk);
CREATE TABLE chunks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  owner TEXT NOT NULL,
  start INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  section INTEGER NOT NULL,
  page INTEGER NOT NULL,
  lead TEXT NOT NULL,
  path TEXT NOT NULL,
  text TEXT NOT NULL,
  sentences BLOB NOT NULL,
  vectors BLOB NOT NULL
) STRICT;
CREATE INDEX chunks_by_document ON chunks (document_id);
CREATE TABLE removals (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  index_id INTEGER NOT NULL REFERENCES indexes (id) ON DELETE CASCADE,
  owner TEXT NOT NULL,
  revision INTEGER NOT NULL,
  first_chunk INTEGER NOT NULL,
  last_chunk INTEGER NOT NULL
) STRICT;
CREATE INDEX removals_by_revision ON removals (index_id, revision);
)sql",
};
static_assert(std::size(migrations) == schema_version);

Result<std::int64_t> version_of(Connection& connection) {
  TRY(auto statement, connection.prepare("PRAGMA user_version"));
  TRY_VOID(statement.step());
  return statement.integer(0);
}

}  // namespace

Result<void> migrate(Connection& connection) {
  TRY(auto seen, version_of(connection));
  if (seen == schema_version) return {};
  TRY(auto transaction, Transaction::begin(connection));
  TRY(auto version, version_of(connection));  // another process may have been faster
  if (version > schema_version) {
    return fail(Errc::unsupported,
                "this store has schema {}, and this program knows up to {}: use a newer plimsoll", version,
                schema_version);
  }
  for (; version < schema_version; ++version) TRY_VOID(connection.execute(migrations[version]));
  TRY_VOID(connection.execute(fmt::format("PRAGMA user_version = {}", schema_version).c_str()));
  return transaction.commit();
}

}  // namespace plimsoll::sqlite
