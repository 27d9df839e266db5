#include "adapters/sqlite/keys.hpp"

#include <gtest/gtest.h>

#include "adapters/sqlite/database.hpp"
#include "adapters/sqlite/traces.hpp"
#include "base/temporary_folder.hpp"
#include "contract/keys/keys_contract.hpp"

namespace plimsoll {

INSTANTIATE_TEST_SUITE_P(
    Sqlite, KeysContract,
    testing::Values(KeysMaker{
        "Sqlite", [](const std::filesystem::path& folder) { return sqlite::open_keys(folder / "store.db"); },
        [](const std::filesystem::path& folder) { return sqlite::open_traces(folder / "store.db"); }}),
    [](const auto& made) { return made.param.name; });

TEST(SqliteKeys, AreNotMadeWhereTheyAreOnlyToBeRead) {
  const auto opened = sqlite::open_keys("/nowhere/at/all/store.db", {.create = false});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::not_found);
  EXPECT_NE(opened.error().what.find("plimsoll keys add"), std::string::npos);
}

TEST(SqliteKeys, AStoreWithSumsThatNobodyCanHaveUsedIsReadAndAddedTo) {
  const base::TemporaryFolder folder("usage");
  const std::filesystem::path file = folder / "store.db";
  auto keys = sqlite::open_keys(file);
  auto traces = sqlite::open_traces(file);
  ASSERT_TRUE(keys && traces);
  EXPECT_TRUE(sqlite::find_false_usage(file)->empty());
  {
    sqlite::ConnectionPool pool(file, sqlite::Connection::Mode::write);
    auto connection = pool.lease();
    ASSERT_TRUE(
        (*connection)
            ->execute("INSERT INTO usage (day, owner, model, section, tokens, requests) VALUES (1, 'ann', "
                      "'m', 'answer', 9223372036854775807, 1), "
                      "(1, 'ann', 'n', 'answer', 9223372036854775807, 1), (1, 'bob', 'm', 'answer', -5, 1)"));
  }
  const UsedTokens more{1, "ann", "m", "answer", INT64_MAX, 1};
  ASSERT_TRUE((*traces)->keep({}, {}, std::span(&more, 1), {}));
  const auto sums = (*keys)->usage({1, 1, {}, UsageWish::By::owner});
  ASSERT_TRUE(sums) << sums.error().what;
  ASSERT_EQ(sums->size(), 2U);
  EXPECT_EQ((*sums)[0].tokens, most_used);
  EXPECT_EQ((*sums)[0].requests, 3);
  EXPECT_EQ((*sums)[1].tokens, 0);
  const auto found = sqlite::find_false_usage(file);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 3U);
  EXPECT_EQ((*found)[0].owner, "ann");
  EXPECT_EQ((*found)[2].tokens, -5);
}

TEST(SqliteKeys, UsageOfAnOlderStoreHasNoKnownCost) {
  const base::TemporaryFolder folder("cost");
  const std::filesystem::path file = folder / "store.db";
  {
    auto keys = sqlite::open_keys(file);
    ASSERT_TRUE(keys);
    sqlite::ConnectionPool pool(file, sqlite::Connection::Mode::write);
    auto connection = pool.lease();
    const auto made_older =
        (*connection)
            ->execute(
                "ALTER TABLE usage DROP COLUMN nano_usd; ALTER TABLE usage DROP COLUMN priced; "
                "INSERT INTO usage VALUES (1, 'ann', 'm', '', 0, 7); PRAGMA user_version = 11");
    ASSERT_TRUE(made_older) << made_older.error().what;
  }
  auto keys = sqlite::open_keys(file);
  auto traces = sqlite::open_traces(file);
  ASSERT_TRUE(keys && traces);
  const UsedTokens more{1, "ann", "m", "", 0, 2, 1'500, 1};
  ASSERT_TRUE((*traces)->keep({}, {}, std::span(&more, 1), {}));
  const auto sums = (*keys)->usage({1, 1, {}, UsageWish::By::owner});
  ASSERT_TRUE(sums) << sums.error().what;
  ASSERT_EQ(sums->size(), 1U);
  EXPECT_EQ((*sums)[0].requests, 9);
  EXPECT_EQ((*sums)[0].nano_usd, 1'500);
  EXPECT_EQ((*sums)[0].priced, 1);
}

}  // namespace plimsoll
