#include "adapters/postgres/rows_of_sessions.hpp"
#include "base/clock.hpp"
#include "base/sha256.hpp"

namespace plimsoll::postgres {
namespace {

struct SessionRow {
  std::int64_t id = 0;
  std::int64_t turns = 0, bytes = 0;
  bool is_new = false;
};

// The caller has locked the session, so nobody else makes it meanwhile.
Result<SessionRow> session_for(Connection& connection, std::string_view owner, std::string_view name) {
  TRY(const Rows found,
      connection.run("SELECT id, turns, bytes FROM sessions WHERE owner = $1 AND name = $2 FOR UPDATE",
                     Values().add(owner).add(name)));
  if (!found.empty())
    return SessionRow{found.integer(0, 0), found.integer(0, 1), found.integer(0, 2), /*is_new=*/false};
  TRY(const Rows made,
      connection.run("INSERT INTO sessions (owner, name, created_ms, updated_ms, turns, bytes) "
                     "VALUES ($1, $2, $3, $3, 0, 0) RETURNING id",
                     Values().add(owner).add(name).add(base::utc_ms())));
  return SessionRow{made.integer(0, 0), 0, 0, /*is_new=*/true};
}

Result<void> insert_turns(Connection& connection, std::string_view owner, std::int64_t session,
                          std::span<const Turn> turns) {
  std::vector<std::string_view> roles, traces, collections, models, texts;
  std::vector<std::int64_t> times;
  for (const Turn& turn : turns) {
    roles.push_back(turn.role);
    times.push_back(turn.at_ms);
    traces.push_back(turn.trace);
    collections.push_back(turn.collection);
    models.push_back(turn.model);
    texts.push_back(turn.text);
  }
  Values values;
  values.add(session).add(owner).add_blobs(roles).add(times).add_blobs(traces).add_blobs(collections);
  values.add_blobs(models).add_blobs(texts);
  TRY_VOID(connection.run(
      "INSERT INTO turns (session_id, owner, role, at_ms, trace, collection, model, text) "
      "SELECT $1::bigint, $2::text, role, at_ms, trace, collection, model, text FROM unnest($3::bytea[], "
      "$4::bigint[], $5::bytea[], $6::bytea[], $7::bytea[], $8::bytea[]) WITH ORDINALITY "
      "AS given (role, at_ms, trace, collection, model, text, place) ORDER BY place",
      values));
  return {};
}

// Deletes the oldest turns until the limits are kept and the first that stays is a question. The newest
// `spared` stay.
Result<void> prune_turns(Connection& connection, SessionRow& session, std::int64_t spared,
                         const SessionLimits& limits) {
  TRY(const Rows rows,
      connection.run("SELECT id, role, octet_length(text)::bigint FROM turns WHERE session_id = $1 "
                     "ORDER BY id",
                     Values().add(session.id)));
  std::int64_t last = 0;
  for (int row = 0; row < rows.count() && session.turns > spared; ++row) {
    const bool within = session.turns <= limits.turns && session.bytes <= limits.bytes;
    if (within && rows.bytes(row, 1) == "user") break;
    last = rows.integer(row, 0);
    --session.turns;
    session.bytes -= rows.integer(row, 2);
  }
  TRY_VOID(connection.run("DELETE FROM turns WHERE session_id = $1 AND id <= $2",
                          Values().add(session.id).add(last)));
  return {};
}

// Deletes the sessions that were not used for the longest time, but not `stays`. One that another gateway is
// writing to is in use.
Result<void> prune_sessions(Connection& connection, std::string_view owner, const SessionRow& stays,
                            std::int64_t most) {
  TRY_VOID(connection.run(
      "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE owner = $1 AND id <> $2 ORDER BY "
      "updated_ms, id "
      "LIMIT greatest(0, (SELECT count(*) FROM sessions WHERE owner = $1) - $3) FOR UPDATE SKIP LOCKED)",
      Values().add(owner).add(stays.id).add(most)));
  return {};
}

Result<void> mark_forgotten(Connection& connection, std::string_view owner, std::string_view name) {
  constexpr std::int64_t longest_request_ms = std::int64_t{24} * 3600 * 1000;
  constexpr std::int64_t most = 10'000;  // of one owner: more than it can have requests in progress
  const std::int64_t now = base::utc_ms();
  TRY_VOID(connection.run(
      "DELETE FROM forgotten_sessions WHERE at_ms < $1 OR (owner = $2 AND at_ms <= (SELECT at_ms "
      "FROM forgotten_sessions WHERE owner = $2 ORDER BY at_ms DESC LIMIT 1 OFFSET $3))",
      Values().add(now - longest_request_ms).add(owner).add(most)));
  const std::string hash = base::sha256_hex(name);
  TRY_VOID(
      connection.run("INSERT INTO forgotten_sessions (owner, name_hash, at_ms) VALUES ($1, $2, $3) "
                     "ON CONFLICT (owner, name_hash) DO UPDATE SET at_ms = excluded.at_ms",
                     Values().add(owner).add(std::string_view(hash)).add(now)));
  return {};
}

}  // namespace

Result<bool> was_forgotten_since(Connection& connection, std::string_view owner, std::string_view name,
                                 std::int64_t at_ms) {
  // A mark in the future was made before the clock was set back. It holds for earlier times too.
  const std::string hash = base::sha256_hex(name);
  TRY(const Rows rows,
      connection.run(
          "SELECT 1 FROM forgotten_sessions WHERE owner = $1 AND name_hash = $2 AND at_ms > $3 AND "
          "(at_ms <= $4 OR $3 > $4)",
          Values().add(owner).add(std::string_view(hash)).add(at_ms).add(base::utc_ms())));
  return !rows.empty();
}

Result<void> append_turns(Connection& connection, std::string_view owner, std::string_view name,
                          std::span<const Turn> turns, const SessionLimits& limits) {
  if (turns.empty()) return {};
  TRY(const bool gone, was_forgotten_since(connection, owner, name, turns.front().at_ms));
  if (gone) return {};
  TRY(SessionRow session, session_for(connection, owner, name));
  TRY_VOID(insert_turns(connection, owner, session.id, turns));
  for (const Turn& turn : turns) session.bytes += std::ssize(turn.text);
  session.turns += std::ssize(turns);
  if (session.turns > limits.turns || session.bytes > limits.bytes)
    TRY_VOID(prune_turns(connection, session, std::ssize(turns), limits));
  TRY_VOID(
      connection.run("UPDATE sessions SET turns = $2, bytes = $3, updated_ms = $4 WHERE id = $1",
                     Values().add(session.id).add(session.turns).add(session.bytes).add(base::utc_ms())));
  return session.is_new ? prune_sessions(connection, owner, session, limits.sessions) : Result<void>();
}

Result<std::vector<Turn>> select_turns(Connection& connection, std::string_view owner,
                                       std::string_view name) {
  TRY(const Rows rows,
      connection.run("SELECT role, text, at_ms, trace, collection, model FROM turns WHERE session_id = "
                     "(SELECT id FROM sessions WHERE owner = $1 AND name = $2) ORDER BY id",
                     Values().add(owner).add(name)));
  std::vector<Turn> out;
  for (int row = 0; row < rows.count(); ++row)
    out.push_back({rows.text(row, 0), rows.text(row, 1), rows.integer(row, 2), rows.text(row, 3),
                   rows.text(row, 4), rows.text(row, 5)});
  return out;
}

Result<std::vector<SessionInfo>> select_sessions(Connection& connection, std::string_view owner,
                                                 std::size_t limit) {
  TRY(const Rows rows,
      connection.run("SELECT name, created_ms, updated_ms, turns, bytes FROM sessions WHERE owner = $1 "
                     "ORDER BY updated_ms DESC, id DESC LIMIT $2",
                     Values().add(owner).add(static_cast<std::int64_t>(limit))));
  std::vector<SessionInfo> out;
  for (int row = 0; row < rows.count(); ++row)
    out.push_back({rows.text(row, 0), rows.integer(row, 1), rows.integer(row, 2), rows.integer(row, 3),
                   rows.integer(row, 4)});
  return out;
}

Result<bool> delete_session(Connection& connection, std::string_view owner, std::string_view name) {
  std::int64_t removed = 0;
  for (const char* sql : {"DELETE FROM sessions WHERE owner = $1 AND name = $2",
                          "DELETE FROM summaries WHERE owner = $1 AND session = $2",
                          "DELETE FROM turn_vectors WHERE owner = $1 AND session = $2"}) {
    TRY(const Rows gone, connection.run(sql, Values().add(owner).add(name)));
    removed += gone.changed();
  }
  TRY_VOID(mark_forgotten(connection, owner, name));
  return removed > 0;
}

}  // namespace plimsoll::postgres
