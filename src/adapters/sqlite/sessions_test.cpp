#include "adapters/sqlite/sessions.hpp"

#include <sqlite3.h>

#include "base/clock.hpp"
#include "base/temporary_folder.hpp"
#include "contract/sessions/sessions_contract.hpp"

namespace plimsoll {

INSTANTIATE_TEST_SUITE_P(Sqlite, SessionsContract,
                         testing::Values(SessionsMaker{"Sqlite",
                                                       [](const std::filesystem::path& folder) {
                                                         return sqlite::open_sessions(folder / "store.db");
                                                       }}),
                         [](const auto& made) { return made.param.name; });

namespace sqlite {
namespace {

TEST(SqliteSessions, AClockThatGoesBackKeepsNoSessionFromBeingBegunAnew) {
  const base::TemporaryFolder folder("sessions");
  const auto store = open_sessions(folder / "store.db");
  ASSERT_TRUE(store);
  const std::int64_t now = base::utc_ms(), hour = 3'600'000;
  const Turn before[] = {{"user", "before", now, "t", "docs", "m"}};
  ASSERT_TRUE((*store)->append("local", "s", before, {}));
  ASSERT_TRUE(*(*store)->forget("local", "s"));
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open((folder / "store.db").c_str(), &handle), SQLITE_OK);
  const std::string ahead = "UPDATE forgotten_sessions SET at_ms = at_ms + " + std::to_string(hour);
  EXPECT_EQ(sqlite3_exec(handle, ahead.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(handle);
  // Said before the clock went back, as its time tells: it stays forgotten.
  const Turn under_way[] = {{"user", "under way", now + hour - 60'000, "t", "docs", "m"}};
  ASSERT_TRUE((*store)->append("local", "s", under_way, {}));
  EXPECT_TRUE((*store)->turns("local", "s")->empty());
  const Turn anew[] = {{"user", "anew", base::utc_ms(), "t", "docs", "m"}};
  ASSERT_TRUE((*store)->append("local", "s", anew, {}));
  EXPECT_EQ((*store)->turns("local", "s")->size(), 1U);
}

}  // namespace
}  // namespace sqlite
}  // namespace plimsoll
