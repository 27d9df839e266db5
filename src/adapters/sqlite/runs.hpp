// Runs, as work on one connection. Whoever calls owns the transaction.
#pragma once

#include "adapters/sqlite/database.hpp"
#include "plimsoll/sessions.hpp"

namespace plimsoll::sqlite {

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

}  // namespace plimsoll::sqlite
