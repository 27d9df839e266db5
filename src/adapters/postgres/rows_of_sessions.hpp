// What the SessionStore port asks, as work on one connection. The caller owns the transaction, and has locked
// the session where one is changed.
#pragma once

#include "adapters/postgres/database.hpp"
#include "plimsoll/sessions.hpp"

namespace plimsoll::postgres {

// turns.cpp
Result<void> append_turns(Connection& connection, std::string_view owner, std::string_view name,
                          std::span<const Turn> turns, const SessionLimits& limits);
Result<std::vector<Turn>> select_turns(Connection& connection, std::string_view owner, std::string_view name);
Result<std::vector<SessionInfo>> select_sessions(Connection& connection, std::string_view owner,
                                                 std::size_t limit);
// False: there was none.
Result<bool> delete_session(Connection& connection, std::string_view owner, std::string_view name);
// Whether the session was deleted after `at_ms`.
Result<bool> was_forgotten_since(Connection& connection, std::string_view owner, std::string_view name,
                                 std::int64_t at_ms);

// summaries.cpp
Result<void> insert_summary(Connection& connection, std::string_view owner, std::string_view session,
                            const KeptSummary& summary, const SummaryLimits& limits);
Result<std::vector<KeptSummary>> select_summaries(Connection& connection, std::string_view owner,
                                                  std::string_view session, bool whole);
Result<KeptSummary> select_summary(Connection& connection, std::string_view owner, std::string_view session,
                                   std::string_view hash);
Result<void> insert_turn_vectors(Connection& connection, std::string_view owner, std::string_view session,
                                 std::string_view embedder, std::span<const TurnVector> vectors,
                                 std::int64_t age_ms);
Result<std::vector<TurnVector>> select_turn_vectors(Connection& connection, std::string_view owner,
                                                    std::string_view session, std::string_view embedder);

// runs.cpp
Result<void> insert_run(Connection& connection, const Run& run, std::int64_t most);
Result<void> insert_part(Connection& connection, std::string_view owner, std::string_view run,
                         std::string_view json);
Result<void> close_run(Connection& connection, std::string_view owner, std::string_view run, RunState state,
                       std::string_view outcome);
Result<Run> select_run(Connection& connection, std::string_view owner, std::string_view kind,
                       std::string_view id);
Result<std::vector<RunInfo>> select_runs(Connection& connection, std::string_view owner,
                                         std::string_view kind, std::size_t limit);
Result<bool> delete_run(Connection& connection, std::string_view owner, std::string_view kind,
                        std::string_view id);
Result<void> interrupt_all(Connection& connection);

}  // namespace plimsoll::postgres
