#include "adapters/sqlite/schema.hpp"

#include <system_error>

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
    // Ids of traces rise with time, so that the oldest are the first of the primary key. The totals are kept
    // by triggers: what is beyond the limits is known without reading the table, whoever wrote to it.
    R"sql(
CREATE TABLE traces (
  id TEXT NOT NULL PRIMARY KEY,
  owner TEXT NOT NULL,
  session TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  json TEXT NOT NULL
) STRICT;
CREATE INDEX traces_by_owner ON traces (owner, id);
CREATE INDEX traces_by_session ON traces (owner, session, id) WHERE session <> '';
CREATE TABLE trace_totals (count INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT;
INSERT INTO trace_totals VALUES (0, 0);
CREATE TRIGGER trace_added AFTER INSERT ON traces BEGIN
  UPDATE trace_totals SET count = count + 1, bytes = bytes + new.bytes;
END;
CREATE TRIGGER trace_changed AFTER UPDATE OF bytes ON traces BEGIN
  UPDATE trace_totals SET bytes = bytes - old.bytes + new.bytes;
END;
CREATE TRIGGER trace_removed AFTER DELETE ON traces BEGIN
  UPDATE trace_totals SET count = count - 1, bytes = bytes - old.bytes;
END;
CREATE TABLE drift (
  upstream TEXT NOT NULL,
  model TEXT NOT NULL,
  format TEXT NOT NULL,
  seen INTEGER NOT NULL,
  recent TEXT NOT NULL,
  PRIMARY KEY (upstream, model, format)
) STRICT, WITHOUT ROWID;
)sql",
    // Keys by the hash of their secret alone. Usage begins with the day: what is asked for most is today's.
    R"sql(
CREATE TABLE keys (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL UNIQUE,
  hash TEXT NOT NULL UNIQUE,
  created_ms INTEGER NOT NULL,
  private_indexes INTEGER NOT NULL,
  requests_per_minute INTEGER NOT NULL,
  tokens_per_minute INTEGER NOT NULL,
  tokens_per_day INTEGER NOT NULL,
  revoked INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE usage (
  day INTEGER NOT NULL,
  owner TEXT NOT NULL,
  model TEXT NOT NULL,
  section TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  PRIMARY KEY (day, owner, model, section)
) STRICT, WITHOUT ROWID;
)sql",
    // Chat with documents: who said what, and work behind requests. Totals of a session stand in its row, so
    // that the limits cost nothing to look at.
    R"sql(
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  turns INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  UNIQUE (owner, name)
) STRICT;
CREATE INDEX sessions_by_time ON sessions (owner, updated_ms);
CREATE TABLE turns (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  owner TEXT NOT NULL,
  role TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  trace TEXT NOT NULL,
  collection TEXT NOT NULL,
  model TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX turns_by_session ON turns (session_id, id);
CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  ended_ms INTEGER NOT NULL,
  asked TEXT NOT NULL,
  outcome TEXT NOT NULL,
  UNIQUE (owner, name)
) STRICT;
CREATE TABLE run_parts (
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  place INTEGER NOT NULL,
  owner TEXT NOT NULL,
  json TEXT NOT NULL,
  PRIMARY KEY (run_id, place)
) STRICT;
)sql",
    // Summaries of conversations by the hash of what they replace. A session need not have turns of its own
    // here: clients that keep their history themselves name one too. Where it has, they go with it.
    R"sql(
CREATE TABLE summaries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL,
  session TEXT NOT NULL,
  hash TEXT NOT NULL,
  ends_with TEXT NOT NULL,
  parent TEXT NOT NULL,
  how TEXT NOT NULL,
  model TEXT NOT NULL,
  turns INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  text TEXT NOT NULL,
  originals TEXT NOT NULL,
  UNIQUE (owner, session, hash)
) STRICT;
CREATE TRIGGER session_removed AFTER DELETE ON sessions BEGIN
  DELETE FROM summaries WHERE owner = old.owner AND session = old.name;
END;
)sql",
    // Memory. Each row of `facts` is padded to more than half a page, so that a page holds one fact and no
    // other: SQLite moves rows between pages as neighbours come and go, and promises nothing of the bytes
    // that a move leaves behind; a fact that is forgotten must be nowhere any more. For the same reason
    // nothing is indexed by a fact's words: an owner's facts are few, and looked through.
    R"sql(
CREATE TABLE facts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL,
  session TEXT NOT NULL,
  importance REAL NOT NULL,
  trust REAL NOT NULL,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  source TEXT NOT NULL,
  text TEXT NOT NULL,
  embedder TEXT NOT NULL,
  vector BLOB NOT NULL,
  padding BLOB NOT NULL
) STRICT;
CREATE INDEX facts_by_owner ON facts (owner, session, id);
CREATE TABLE fact_feedback (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  fact_id INTEGER NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
  owner TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  helpful INTEGER NOT NULL,
  trust REAL NOT NULL
) STRICT;
CREATE INDEX feedback_by_fact ON fact_feedback (fact_id, id);
)sql",
    // When a session was forgotten, by the hash of its name, for as long as a request may have been under
    // way; and how much an owner's summaries take, which the index tells without reading them.
    R"sql(
CREATE TABLE forgotten_sessions (
  owner TEXT NOT NULL,
  name_hash TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (owner, name_hash)
) STRICT, WITHOUT ROWID;
ALTER TABLE summaries ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE summaries SET bytes = length(CAST(text AS BLOB)) + length(CAST(originals AS BLOB));
CREATE INDEX summaries_by_owner ON summaries (owner, id, bytes);
)sql",
    // Which file a document was read from, and which path was added. NULL: stored before this was kept.
    R"sql(
ALTER TABLE documents ADD COLUMN file_path TEXT;
ALTER TABLE documents ADD COLUMN file_root TEXT NOT NULL DEFAULT '';
)sql",
    // Drift by owner, with the time of each difference. What was learned without either is learned anew. And
    // orders to forget what was learned, for gateways that run.
    R"sql(
DROP TABLE drift;
CREATE TABLE drift (
  upstream TEXT NOT NULL,
  model TEXT NOT NULL,
  format TEXT NOT NULL,
  owner TEXT NOT NULL,
  seen INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  recent TEXT NOT NULL,
  PRIMARY KEY (upstream, model, format, owner)
) STRICT, WITHOUT ROWID;
CREATE INDEX drift_by_time ON drift (at_ms);
CREATE TABLE forget_orders (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  model TEXT NOT NULL
) STRICT;
)sql",
    // How much of the traces is whose: beyond the limits, who has most gives way.
    R"sql(
CREATE TABLE trace_shares (owner TEXT NOT NULL PRIMARY KEY, count INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO trace_shares SELECT owner, count(*), sum(bytes) FROM traces GROUP BY owner;
CREATE TRIGGER trace_share_added AFTER INSERT ON traces BEGIN
  INSERT INTO trace_shares VALUES (new.owner, 1, new.bytes)
    ON CONFLICT DO UPDATE SET count = count + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER trace_share_changed AFTER UPDATE OF bytes ON traces BEGIN
  UPDATE trace_shares SET bytes = bytes - old.bytes + new.bytes WHERE owner = new.owner;
END;
CREATE TRIGGER trace_share_removed AFTER DELETE ON traces BEGIN
  UPDATE trace_shares SET count = count - 1, bytes = bytes - old.bytes WHERE owner = old.owner;
  DELETE FROM trace_shares WHERE owner = old.owner AND count <= 0;
END;
)sql",
    // Vectors of the sentences of turns, by the hash of the turn's text: they find a turn that left the
    // window. Like summaries, they belong to a session that need not have turns here.
    R"sql(
CREATE TABLE turn_vectors (
  owner TEXT NOT NULL,
  session TEXT NOT NULL,
  embedder TEXT NOT NULL,
  hash TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  vectors BLOB NOT NULL,
  PRIMARY KEY (owner, session, embedder, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX turn_vectors_by_time ON turn_vectors (owner, at_ms);
CREATE TRIGGER session_vectors_removed AFTER DELETE ON sessions BEGIN
  DELETE FROM turn_vectors WHERE owner = old.owner AND session = old.name;
END;
)sql",
    // What requests cost, in billionths of a dollar, and of how many of them that is known. Of those before
    // it is not.
    R"sql(
ALTER TABLE usage ADD COLUMN nano_usd INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN priced INTEGER NOT NULL DEFAULT 0;
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
  if (version < 0)
    return fail(Errc::damaged,
                "this store says that its schema is {}: it is damaged. Restore it from a backup, or begin a "
                "new one",
                version);
  if (version > schema_version) {
    return fail(Errc::unsupported,
                "this store has schema {}, and this program knows up to {}: use a newer plimsoll", version,
                schema_version);
  }
  for (; version < schema_version; ++version) TRY_VOID(connection.execute(migrations[version]));
  TRY_VOID(connection.execute(fmt::format("PRAGMA user_version = {}", schema_version).c_str()));
  return transaction.commit();
}

Result<void> make_ready(Connection& connection) {
  // A chunk with its vectors is 3 to 4 KB: larger pages than SQLite's 4 KiB keep it in one.
  TRY_VOID(connection.execute("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL"));
  return migrate(connection);
}

}  // namespace plimsoll::sqlite
