// Summaries of conversations, as work on one connection. Whoever calls owns the transaction.
#pragma once

#include "adapters/sqlite/database.hpp"
#include "plimsoll/sessions.hpp"

namespace plimsoll::sqlite {

Result<void> insert_summary(Connection& connection, std::string_view owner, std::string_view session,
                            const KeptSummary& summary, const SummaryLimits& limits);
Result<std::vector<KeptSummary>> select_summaries(Connection& connection, std::string_view owner,
                                                  std::string_view session, bool whole);
Result<KeptSummary> select_summary(Connection& connection, std::string_view owner, std::string_view session,
                                   std::string_view hash);
// False: there was none.
Result<bool> forget_summaries(Connection& connection, std::string_view owner, std::string_view session);

}  // namespace plimsoll::sqlite
