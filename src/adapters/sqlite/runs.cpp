#include "adapters/sqlite/runs.hpp"

#include "adapters/sqlite/rows.hpp"
#include "base/clock.hpp"
#include "base/try.hpp"

namespace plimsoll::sqlite {
namespace {

// 0: there is none.
Result<std::int64_t> number_of(Connection& connection, std::string_view owner, std::string_view run) {
  TRY(auto row, connection.prepare("SELECT id FROM runs WHERE owner = ? AND name = ?"));
  TRY(const bool found, row.bind(owner).bind(run).step());
  return found ? row.integer(0) : 0;
}

Result<void> forget_old_runs(Connection& connection, const Run& run, std::int64_t most) {
  TRY(auto remove, connection.prepare("DELETE FROM runs WHERE id IN (SELECT id FROM runs WHERE owner = ? AND "
                                      "kind = ? AND state <> 'running' ORDER BY id LIMIT max(0, (SELECT "
                                      "count(*) FROM runs WHERE owner = ? AND kind = ?) - ?))"));
  return remove.bind(run.owner).bind(run.kind).bind(run.owner).bind(run.kind).bind(most).run();
}

RunState state_named(std::string_view name) {
  for (const RunState state : {RunState::done, RunState::failed, RunState::interrupted})
    if (name == name_of(state)) return state;
  return RunState::running;
}

}  // namespace

Result<void> insert_run(Connection& connection, const Run& run, std::int64_t most) {
  {
    TRY(auto insert, connection.prepare("INSERT INTO runs (owner, name, kind, state, created_ms, ended_ms, "
                                        "asked, outcome) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"));
    const std::int64_t now = base::utc_ms();
    insert.bind(run.owner).bind(run.id).bind(run.kind).bind(name_of(run.state)).bind(now);
    TRY_VOID(insert.bind(run.state == RunState::running ? 0 : now).bind(run.asked).bind(run.outcome).run());
  }
  return forget_old_runs(connection, run, most);
}

Result<void> insert_part(Connection& connection, std::string_view owner, std::string_view run,
                         std::string_view json) {
  TRY(const std::int64_t number, number_of(connection, owner, run));
  if (number == 0) return fail(Errc::not_found, "there is no run '{}'", run);
  TRY(auto insert, connection.prepare("INSERT INTO run_parts (run_id, place, owner, json) VALUES (?, (SELECT "
                                      "count(*) FROM run_parts WHERE run_id = ?), ?, ?)"));
  return insert.bind(number).bind(number).bind(owner).bind(json).run();
}

Result<void> close_run(Connection& connection, std::string_view owner, std::string_view run, RunState state,
                       std::string_view outcome) {
  TRY(auto update, connection.prepare("UPDATE runs SET state = ?, ended_ms = ?, outcome = ? WHERE owner = ? "
                                      "AND name = ?"));
  TRY_VOID(update.bind(name_of(state)).bind(base::utc_ms()).bind(outcome).bind(owner).bind(run).run());
  if (connection.changes() == 0) return fail(Errc::not_found, "there is no run '{}'", run);
  return {};
}

Result<Run> select_run(Connection& connection, std::string_view owner, std::string_view kind,
                       std::string_view id) {
  Run run;
  std::int64_t number = 0;
  {
    TRY(auto row, connection.prepare("SELECT id, state, created_ms, ended_ms, asked, outcome FROM runs "
                                     "WHERE owner = ? AND name = ? AND kind = ?"));
    TRY(const bool found, row.bind(owner).bind(id).bind(kind).step());
    if (!found) return fail(Errc::not_found, "there is no {} '{}'", kind, id);
    number = row.integer(0);
    run.state = state_named(row.text(1));
    run.created_ms = row.integer(2);
    run.ended_ms = row.integer(3);
    run.asked = row.text(4);
    run.outcome = row.text(5);
  }
  run.id = id;
  run.owner = owner;
  run.kind = kind;
  TRY(auto part, connection.prepare("SELECT json FROM run_parts WHERE run_id = ? ORDER BY place"));
  part.bind(number);
  while (true) {
    TRY(const bool more, part.step());
    if (!more) return run;
    run.parts.emplace_back(part.text(0));
  }
}

Result<std::vector<RunInfo>> select_runs(Connection& connection, std::string_view owner,
                                         std::string_view kind, std::size_t limit) {
  TRY(auto row, connection.prepare("SELECT name, state, created_ms, ended_ms, asked, (SELECT count(*) FROM "
                                   "run_parts WHERE run_id = runs.id) FROM runs WHERE owner = ? AND kind = ? "
                                   "ORDER BY id DESC LIMIT ?"));
  row.bind(owner).bind(kind).bind(static_cast<std::int64_t>(limit));
  std::vector<RunInfo> runs;
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return runs;
    runs.push_back({std::string(row.text(0)), state_named(row.text(1)), row.integer(2), row.integer(3),
                    std::string(row.text(4)), static_cast<std::size_t>(row.integer(5))});
  }
}

Result<bool> delete_run(Connection& connection, std::string_view owner, std::string_view kind,
                        std::string_view id) {
  TRY(auto remove, connection.prepare("DELETE FROM runs WHERE owner = ? AND name = ? AND kind = ?"));
  TRY_VOID(remove.bind(owner).bind(id).bind(kind).run());
  return connection.changes() > 0;
}

Result<void> interrupt_all(Connection& connection) {
  TRY(auto update, connection.prepare("UPDATE runs SET state = 'interrupted', ended_ms = ? WHERE state = "
                                      "'running'"));
  return update.bind(base::utc_ms()).run();
}

}  // namespace plimsoll::sqlite
