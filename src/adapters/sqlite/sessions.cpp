#include "adapters/sqlite/sessions.hpp"

#include "adapters/sqlite/database.hpp"
#include "adapters/sqlite/rows.hpp"
#include "adapters/sqlite/runs.hpp"
#include "adapters/sqlite/shared_database.hpp"
#include "adapters/sqlite/summaries.hpp"
#include "adapters/sqlite/turn_vectors.hpp"
#include "base/clock.hpp"
#include "base/sha256.hpp"
#include "base/try.hpp"

namespace plimsoll::sqlite {
namespace {

struct Row {
  std::int64_t id = 0;  // 0: there is none
  std::int64_t turns = 0, bytes = 0;
};

Result<Row> session_named(Connection& connection, std::string_view owner, std::string_view name) {
  TRY(auto row, connection.prepare("SELECT id, turns, bytes FROM sessions WHERE owner = ? AND name = ?"));
  TRY(const bool found, row.bind(owner).bind(name).step());
  return found ? Row{row.integer(0), row.integer(1), row.integer(2)} : Row();
}

Result<Row> insert_session(Connection& connection, std::string_view owner, std::string_view name) {
  TRY(auto insert, connection.prepare("INSERT INTO sessions (owner, name, created_ms, updated_ms, turns, "
                                      "bytes) VALUES (?, ?, ?, ?, 0, 0)"));
  const std::int64_t now = base::utc_ms();
  TRY_VOID(insert.bind(owner).bind(name).bind(now).bind(now).run());
  return Row{connection.last_id(), 0, 0};
}

Result<void> insert_turn(Connection& connection, std::string_view owner, std::int64_t session,
                         const Turn& turn) {
  TRY(auto insert, connection.prepare("INSERT INTO turns (session_id, owner, role, at_ms, trace, collection, "
                                      "model, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"));
  insert.bind(session).bind(owner).bind(turn.role).bind(turn.at_ms).bind(turn.trace);
  return insert.bind(turn.collection).bind(turn.model).bind(turn.text).run();
}

// The oldest go until the limits are kept, and the first that stays is a question. The newest `spared` stay.
Result<void> prune(Connection& connection, Row& session, std::int64_t spared, const SessionLimits& limits) {
  std::int64_t last = 0;
  {
    TRY(auto row, connection.prepare("SELECT id, role, length(CAST(text AS BLOB)) FROM turns WHERE "
                                     "session_id = ? ORDER BY id"));
    row.bind(session.id);
    while (session.turns > spared) {
      TRY(const bool more, row.step());
      const bool within = session.turns <= limits.turns && session.bytes <= limits.bytes;
      if (!more || (within && row.text(1) == "user")) break;
      last = row.integer(0);
      --session.turns;
      session.bytes -= row.integer(2);
    }
  }
  TRY(auto remove, connection.prepare("DELETE FROM turns WHERE session_id = ? AND id <= ?"));
  return remove.bind(session.id).bind(last).run();
}

Result<void> update_session(Connection& connection, const Row& session) {
  TRY(auto update, connection.prepare("UPDATE sessions SET turns = ?, bytes = ?, updated_ms = ? WHERE id = "
                                      "?"));
  return update.bind(session.turns).bind(session.bytes).bind(base::utc_ms()).bind(session.id).run();
}

// Those that nobody spoke in for the longest time go; the one that was just spoken in stays.
Result<void> forget_sessions(Connection& connection, std::string_view owner, const Row& stays,
                             std::int64_t most) {
  TRY(auto remove,
      connection.prepare("DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE owner = ? AND id "
                         "<> ? ORDER BY updated_ms, id LIMIT max(0, (SELECT count(*) FROM sessions WHERE "
                         "owner = ?) - ?))"));
  return remove.bind(owner).bind(stays.id).bind(owner).bind(most).run();
}

// From now on what was said before is not kept any more.
Result<void> mark_forgotten(Connection& connection, std::string_view owner, std::string_view name) {
  constexpr std::int64_t longest_request_ms = std::int64_t{24} * 3600 * 1000;
  const std::int64_t now = base::utc_ms();
  {
    TRY(auto old, connection.prepare("DELETE FROM forgotten_sessions WHERE at_ms < ?"));
    TRY_VOID(old.bind(now - longest_request_ms).run());
  }
  {
    constexpr std::int64_t most = 10'000;  // of one owner: more than it can have requests in progress
    TRY(auto beyond,
        connection.prepare("DELETE FROM forgotten_sessions WHERE owner = ?1 AND at_ms <= (SELECT at_ms FROM "
                           "forgotten_sessions WHERE owner = ?1 ORDER BY at_ms DESC LIMIT 1 OFFSET ?2)"));
    TRY_VOID(beyond.bind(owner).bind(most).run());
  }
  TRY(auto mark, connection.prepare("INSERT OR REPLACE INTO forgotten_sessions (owner, name_hash, at_ms) "
                                    "VALUES (?, ?, ?)"));
  return mark.bind(owner).bind(base::sha256_hex(name)).bind(now).run();
}

Result<bool> was_forgotten_since(Connection& connection, std::string_view owner, std::string_view name,
                                 std::int64_t at_ms) {
  TRY(auto row, connection.prepare("SELECT 1 FROM forgotten_sessions WHERE owner = ? AND name_hash = ? AND "
                                   "at_ms > ? AND (at_ms <= ? OR ? > ?)"));
  // A mark that lies ahead was made before the clock went back: it holds for what was said before that too.
  const std::int64_t now = base::utc_ms();
  const std::string hash = base::sha256_hex(name);
  return row.bind(owner).bind(hash).bind(at_ms).bind(now).bind(at_ms).bind(now).step();
}

Result<void> append_turns(Connection& connection, std::string_view owner, std::string_view name,
                          std::span<const Turn> turns, const SessionLimits& limits) {
  if (turns.empty()) return {};
  TRY(const bool gone, was_forgotten_since(connection, owner, name, turns.front().at_ms));
  if (gone) return {};
  TRY(Row session, session_named(connection, owner, name));
  const bool is_new = session.id == 0;
  if (is_new) {
    TRY(session, insert_session(connection, owner, name));
  }
  for (const Turn& turn : turns) {
    TRY_VOID(insert_turn(connection, owner, session.id, turn));
    session.bytes += static_cast<std::int64_t>(turn.text.size());
    ++session.turns;
  }
  if (session.turns > limits.turns || session.bytes > limits.bytes)
    TRY_VOID(prune(connection, session, std::ssize(turns), limits));
  TRY_VOID(update_session(connection, session));
  return is_new ? forget_sessions(connection, owner, session, limits.sessions) : Result<void>();
}

Result<std::vector<Turn>> select_turns(Connection& connection, std::string_view owner,
                                       std::string_view name) {
  TRY(auto row, connection.prepare("SELECT role, text, at_ms, trace, collection, model FROM turns WHERE "
                                   "session_id = (SELECT id FROM sessions WHERE owner = ? AND name = ?) "
                                   "ORDER BY id"));
  row.bind(owner).bind(name);
  std::vector<Turn> out;
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return out;
    out.push_back({std::string(row.text(0)), std::string(row.text(1)), row.integer(2),
                   std::string(row.text(3)), std::string(row.text(4)), std::string(row.text(5))});
  }
}

Result<std::vector<SessionInfo>> select_sessions(Connection& connection, std::string_view owner,
                                                 std::size_t limit) {
  TRY(auto row, connection.prepare("SELECT name, created_ms, updated_ms, turns, bytes FROM sessions WHERE "
                                   "owner = ? ORDER BY updated_ms DESC, id DESC LIMIT ?"));
  row.bind(owner).bind(static_cast<std::int64_t>(limit));
  std::vector<SessionInfo> out;
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return out;
    out.push_back({std::string(row.text(0)), row.integer(1), row.integer(2), row.integer(3), row.integer(4)});
  }
}

class SqliteSessions final : public SessionStore {
 public:
  explicit SqliteSessions(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  Result<void> append(std::string_view owner, std::string_view session, std::span<const Turn> turns,
                      const SessionLimits& limits) override {
    return database_->written(
        [&](Connection& connection) { return append_turns(connection, owner, session, turns, limits); });
  }
  Result<std::vector<Turn>> turns(std::string_view owner, std::string_view session) override {
    TRY(auto connection, database_->lease());
    return select_turns(*connection, owner, session);
  }
  Result<std::vector<SessionInfo>> sessions(std::string_view owner, std::size_t limit) override {
    TRY(auto connection, database_->lease());
    return select_sessions(*connection, owner, limit);
  }
  Result<bool> forget(std::string_view owner, std::string_view session) override {
    bool found = false;
    const auto work = [&](Connection& connection) -> Result<void> {
      TRY(auto remove, connection.prepare("DELETE FROM sessions WHERE owner = ? AND name = ?"));
      TRY_VOID(remove.bind(owner).bind(session).run());
      found = connection.changes() > 0;
      TRY(const bool summarised, forget_summaries(connection, owner, session));
      TRY(const bool indexed, forget_turn_vectors(connection, owner, session));
      found = found || summarised || indexed;
      return mark_forgotten(connection, owner, session);
    };
    TRY_VOID(database_->written(work));
    return found;
  }

  Result<void> keep_summary(std::string_view owner, std::string_view session, const KeptSummary& summary,
                            const SummaryLimits& limits) override {
    return database_->written([&](Connection& connection) -> Result<void> {
      TRY(const bool gone, was_forgotten_since(connection, owner, session, summary.at_ms));
      return gone ? Result<void>() : insert_summary(connection, owner, session, summary, limits);
    });
  }
  Result<std::vector<KeptSummary>> summaries(std::string_view owner, std::string_view session,
                                             bool whole) override {
    TRY(auto connection, database_->lease());
    return select_summaries(*connection, owner, session, whole);
  }
  Result<KeptSummary> summary(std::string_view owner, std::string_view session,
                              std::string_view hash) override {
    TRY(auto connection, database_->lease());
    return select_summary(*connection, owner, session, hash);
  }

  Result<void> keep_turn_vectors(std::string_view owner, std::string_view session, std::string_view embedder,
                                 std::span<const TurnVector> vectors, std::int64_t at_ms,
                                 std::int64_t age_ms) override {
    return database_->written([&](Connection& connection) -> Result<void> {
      TRY(const bool gone, was_forgotten_since(connection, owner, session, at_ms));
      if (gone) return {};
      return insert_turn_vectors(connection, owner, session, embedder, vectors, age_ms);
    });
  }
  Result<std::vector<TurnVector>> turn_vectors(std::string_view owner, std::string_view session,
                                               std::string_view embedder) override {
    TRY(auto connection, database_->lease());
    return select_turn_vectors(*connection, owner, session, embedder);
  }

  Result<void> begin_run(const Run& run, std::int64_t most) override {
    return database_->written([&](Connection& connection) { return insert_run(connection, run, most); });
  }
  Result<void> add_part(std::string_view owner, std::string_view run, std::string_view json) override {
    return database_->written(
        [&](Connection& connection) { return insert_part(connection, owner, run, json); });
  }
  Result<void> end_run(std::string_view owner, std::string_view run, RunState state,
                       std::string_view outcome) override {
    return database_->written(
        [&](Connection& connection) { return close_run(connection, owner, run, state, outcome); });
  }
  Result<Run> run(std::string_view owner, std::string_view kind, std::string_view id) override {
    TRY(auto connection, database_->lease());
    return select_run(*connection, owner, kind, id);
  }
  Result<std::vector<RunInfo>> runs(std::string_view owner, std::string_view kind,
                                    std::size_t limit) override {
    TRY(auto connection, database_->lease());
    return select_runs(*connection, owner, kind, limit);
  }
  Result<bool> forget_run(std::string_view owner, std::string_view kind, std::string_view id) override {
    bool found = false;
    TRY_VOID(database_->written([&](Connection& connection) -> Result<void> {
      TRY(found, delete_run(connection, owner, kind, id));
      return {};
    }));
    return found;
  }
  Result<void> interrupt_runs() override { return database_->written(interrupt_all); }

 private:
  const std::shared_ptr<Database> database_;
};

}  // namespace

Result<std::unique_ptr<SessionStore>> open_sessions(const std::filesystem::path& file,
                                                    const OpenOptions& options) {
  return open_as_allowed<SqliteSessions>(file, options, "`plimsoll serve` makes one",
                                         [](auto& store) { return store.sessions("local", 1).has_value(); });
}

}  // namespace plimsoll::sqlite
