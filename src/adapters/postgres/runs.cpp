#include "adapters/postgres/rows_of_sessions.hpp"
#include "base/clock.hpp"

namespace plimsoll::postgres {
namespace {

RunState state_named(std::string_view name) {
  for (const RunState state : {RunState::done, RunState::failed, RunState::interrupted})
    if (name == name_of(state)) return state;
  return RunState::running;
}

}  // namespace

Result<void> insert_run(Connection& connection, const Run& run, std::int64_t most) {
  const std::int64_t now = base::utc_ms(), ended = run.state == RunState::running ? 0 : now;
  Values values;
  values.add(std::string_view(run.owner)).add(std::string_view(run.id)).add(std::string_view(run.kind));
  values.add(name_of(run.state)).add(now).add(ended);
  values.add(std::string_view(run.asked)).add(std::string_view(run.outcome));
  TRY_VOID(
      connection.run("INSERT INTO runs (owner, name, kind, state, created_ms, ended_ms, asked, outcome) "
                     "VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                     values));
  TRY_VOID(
      connection.run("DELETE FROM runs WHERE id IN (SELECT id FROM runs WHERE owner = $1 AND kind = $2 AND "
                     "state <> 'running' ORDER BY "
                     "id LIMIT greatest(0, (SELECT count(*) FROM runs WHERE owner = $1 AND kind = $2) - $3) "
                     "FOR UPDATE SKIP LOCKED)",
                     Values().add(std::string_view(run.owner)).add(std::string_view(run.kind)).add(most)));
  return {};
}

Result<void> insert_part(Connection& connection, std::string_view owner, std::string_view run,
                         std::string_view json) {
  TRY(const Rows found, connection.run("SELECT id FROM runs WHERE owner = $1 AND name = $2 FOR UPDATE",
                                       Values().add(owner).add(run)));
  if (found.empty()) return fail(Errc::not_found, "there is no run '{}'", run);
  TRY_VOID(connection.run(
      "INSERT INTO run_parts (run_id, place, owner, json) SELECT $1, count(*), $2, $3 FROM run_parts "
      "WHERE run_id = $1",
      Values().add(found.integer(0, 0)).add(owner).add(json)));
  return {};
}

Result<void> close_run(Connection& connection, std::string_view owner, std::string_view run, RunState state,
                       std::string_view outcome) {
  TRY(const Rows done,
      connection.run("UPDATE runs SET state = $3, ended_ms = $4, outcome = $5 WHERE owner = $1 AND name = $2",
                     Values().add(owner).add(run).add(name_of(state)).add(base::utc_ms()).add(outcome)));
  if (done.changed() == 0) return fail(Errc::not_found, "there is no run '{}'", run);
  return {};
}

Result<Run> select_run(Connection& connection, std::string_view owner, std::string_view kind,
                       std::string_view id) {
  TRY(const Rows found, connection.run("SELECT id, state, created_ms, ended_ms, asked, outcome FROM runs "
                                       "WHERE owner = $1 AND name = $2 AND kind = $3",
                                       Values().add(owner).add(id).add(kind)));
  if (found.empty()) return fail(Errc::not_found, "there is no {} '{}'", kind, id);
  Run run;
  run.id = id;
  run.owner = owner;
  run.kind = kind;
  run.state = state_named(found.bytes(0, 1));
  run.created_ms = found.integer(0, 2);
  run.ended_ms = found.integer(0, 3);
  run.asked = found.text(0, 4);
  run.outcome = found.text(0, 5);
  TRY(const Rows parts, connection.run("SELECT json FROM run_parts WHERE run_id = $1 ORDER BY place",
                                       Values().add(found.integer(0, 0))));
  for (int row = 0; row < parts.count(); ++row) run.parts.push_back(parts.text(row, 0));
  return run;
}

Result<std::vector<RunInfo>> select_runs(Connection& connection, std::string_view owner,
                                         std::string_view kind, std::size_t limit) {
  TRY(const Rows rows,
      connection.run(
          "SELECT name, state, created_ms, ended_ms, asked, (SELECT count(*) FROM run_parts WHERE run_id = "
          "runs.id) FROM runs WHERE owner = $1 AND kind = $2 ORDER BY id DESC LIMIT $3",
          Values().add(owner).add(kind).add(static_cast<std::int64_t>(limit))));
  std::vector<RunInfo> out;
  for (int row = 0; row < rows.count(); ++row)
    out.push_back({rows.text(row, 0), state_named(rows.bytes(row, 1)), rows.integer(row, 2),
                   rows.integer(row, 3), rows.text(row, 4), static_cast<std::size_t>(rows.integer(row, 5))});
  return out;
}

Result<bool> delete_run(Connection& connection, std::string_view owner, std::string_view kind,
                        std::string_view id) {
  TRY(const Rows gone, connection.run("DELETE FROM runs WHERE owner = $1 AND name = $2 AND kind = $3",
                                      Values().add(owner).add(id).add(kind)));
  return gone.changed() > 0;
}

Result<void> interrupt_all(Connection& connection) {
  TRY_VOID(connection.run("UPDATE runs SET state = 'interrupted', ended_ms = $1 WHERE state = 'running'",
                          Values().add(base::utc_ms())));
  return {};
}

}  // namespace plimsoll::postgres
