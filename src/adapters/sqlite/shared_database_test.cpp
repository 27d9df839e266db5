#include "adapters/sqlite/shared_database.hpp"

#include <fstream>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"

namespace plimsoll::sqlite {
namespace {

class SharedDatabase : public testing::Test {
 protected:
  std::shared_ptr<Database> open(const std::filesystem::path& file) {
    auto opened = Database::open(file);
    EXPECT_TRUE(opened) << opened.error().what;
    return opened ? *opened : nullptr;
  }
  base::TemporaryFolder folder_{"shared"};
  std::filesystem::path file_ = folder_ / "store.db";
};

TEST_F(SharedDatabase, IsTheSameForEveryNameOfTheFile) {
  const auto first = open(file_);
  std::filesystem::create_symlink(file_, folder_ / "link.db");
  EXPECT_EQ(open(folder_ / "link.db"), first);
  EXPECT_EQ(open(folder_ / "." / "store.db"), first);
  EXPECT_NE(open(folder_ / "other.db"), first);
}

TEST_F(SharedDatabase, IsAnotherOneForAFileThatWasMadeAgain) {
  const auto first = open(file_);
  std::filesystem::remove(file_);
  EXPECT_NE(open(file_), first);
}

TEST_F(SharedDatabase, LivesAsLongAsItsStores) {
  std::weak_ptr<Database> seen;
  {
    const auto first = open(file_);
    seen = first;
  }
  EXPECT_TRUE(seen.expired());
  EXPECT_TRUE(open(file_));
}

TEST_F(SharedDatabase, TakesBackAWriteThatFailed) {
  const auto database = open(file_);
  ASSERT_TRUE(database->alone(
      [](Connection& connection) { return connection.execute("CREATE TABLE notes (text TEXT)"); }));
  const auto add = [](Connection& connection) {
    return connection.execute("INSERT INTO notes VALUES ('one')");
  };
  const auto failing = [&](Connection& connection) -> Result<void> {
    TRY_VOID(add(connection));
    return fail(Errc::bad_input, "no");
  };
  EXPECT_FALSE(database->written(failing));
  EXPECT_FALSE(database->logged(failing));
  ASSERT_TRUE(database->written(add));
  ASSERT_TRUE(database->logged(add));
  const auto found = database->viewed([](Connection& connection) -> Result<std::int64_t> {
    TRY(auto row, connection.prepare("SELECT count(*) FROM notes"));
    TRY_VOID(row.step());
    return row.integer(0);
  });
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, 2);
}

TEST_F(SharedDatabase, ThreadsWriteOneAfterAnother) {
  const auto database = open(file_);
  ASSERT_TRUE(database->alone([](Connection& connection) {
    return connection.execute("CREATE TABLE counts (number INTEGER); INSERT INTO counts VALUES (0)");
  }));
  constexpr int threads = 4, each = 25;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i)
    running.emplace_back([&] {
      for (int n = 0; n < each; ++n)
        EXPECT_TRUE(database->logged([](Connection& connection) {
          return connection.execute("UPDATE counts SET number = number + 1");
        }));
    });
  for (std::thread& one : running) one.join();
  const auto found = database->viewed([](Connection& connection) -> Result<std::int64_t> {
    TRY(auto row, connection.prepare("SELECT number FROM counts"));
    TRY_VOID(row.step());
    return row.integer(0);
  });
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, threads * each);
}

TEST_F(SharedDatabase, AFileThatIsNoStoreIsAnError) {
  { std::ofstream(file_) << std::string(4'096, 'x'); }
  const auto opened = Database::open(file_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::damaged);
}

}  // namespace
}  // namespace plimsoll::sqlite
