#include "adapters/sqlite/keys.hpp"

#include <gtest/gtest.h>

#include "adapters/sqlite/traces.hpp"
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

}  // namespace plimsoll
