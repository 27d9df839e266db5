// Vectors of turns, as work on one connection. Whoever calls owns the transaction.
#pragma once

#include "adapters/sqlite/database.hpp"
#include "plimsoll/sessions.hpp"

namespace plimsoll::sqlite {

Result<void> insert_turn_vectors(Connection& connection, std::string_view owner, std::string_view session,
                                 std::string_view embedder, std::span<const TurnVector> vectors,
                                 std::int64_t age_ms);
Result<std::vector<TurnVector>> select_turn_vectors(Connection& connection, std::string_view owner,
                                                    std::string_view session, std::string_view embedder);
// False: there were none.
Result<bool> forget_turn_vectors(Connection& connection, std::string_view owner, std::string_view session);

}  // namespace plimsoll::sqlite
