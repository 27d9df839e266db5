#include "adapters/sqlite/sessions.hpp"

#include "contract/sessions/sessions_contract.hpp"

namespace plimsoll {

INSTANTIATE_TEST_SUITE_P(Sqlite, SessionsContract,
                         testing::Values(SessionsMaker{"Sqlite",
                                                       [](const std::filesystem::path& folder) {
                                                         return sqlite::open_sessions(folder / "store.db");
                                                       }}),
                         [](const auto& made) { return made.param.name; });

}  // namespace plimsoll
