#include "adapters/sqlite/traces.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "adapters/sqlite/store.hpp"
#include "base/temporary_folder.hpp"
#include "base/testing_time.hpp"
#include "contract/store/store_contract.hpp"
#include "contract/traces/traces_contract.hpp"

namespace plimsoll {

INSTANTIATE_TEST_SUITE_P(Sqlite, TracesContract,
                         testing::Values(TracesMaker{"Sqlite",
                                                     [](const std::filesystem::path& folder) {
                                                       return sqlite::open_traces(folder / "store.db");
                                                     }}),
                         [](const auto& made) { return made.param.name; });

namespace sqlite {
namespace {

class SqliteTraces : public testing::Test {
 protected:
  void execute(const char* sql) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(file_.c_str(), &handle), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, &error), SQLITE_OK)
        << (error != nullptr ? error : "");
    sqlite3_close(handle);
  }
  // Twenty batches of fifty, in seconds.
  double time_to_keep(TraceStore& store, int from) {
    const double start = base::cpu_seconds();
    for (int batch = 0; batch < 20; ++batch) {
      std::vector<Trace> traces;
      for (int i = 0; i < 50; ++i)
        traces.push_back(sample_trace(fmt::format("z{:08}", from + batch * 50 + i)));
      EXPECT_TRUE(store.keep(traces, {}, {}, {.most = 100'000'000}));
    }
    return base::cpu_seconds() - start;
  }

  base::TemporaryFolder folder_{"traces"};
  std::filesystem::path file_ = folder_ / "store.db";
};

// What the first release wrote, with a document in it.
TEST_F(SqliteTraces, AStoreOfSchemaOneComesUpWithItsData) {
  {
    auto store = open_store(file_);
    ASSERT_TRUE(store);
    const auto index = (*store)->create_index("local", "i", {});
    const auto document = sample_document("d", {"the load line"}, {});
    ASSERT_TRUE((*store)->put(index->id, std::span(&document, 1)));
  }
  execute(
      "DROP TABLE traces; DROP TABLE trace_totals; DROP TABLE drift; DROP TABLE keys; DROP TABLE usage; "
      "DROP TABLE summaries; DROP TABLE turns; DROP TABLE sessions; DROP TABLE run_parts; DROP TABLE runs; "
      "DROP TABLE fact_feedback; DROP TABLE facts; DROP TABLE forgotten_sessions; DROP TABLE forget_orders; "
      "DROP TABLE trace_shares; DROP TABLE turn_vectors; "
      "ALTER TABLE documents DROP COLUMN file_path; ALTER TABLE documents DROP COLUMN file_root; "
      "PRAGMA user_version = 1");
  auto traces = open_traces(file_, {.create = false});
  ASSERT_TRUE(traces) << traces.error().what;
  const Trace trace = sample_trace("a");
  ASSERT_TRUE((*traces)->keep(std::span(&trace, 1), {}, {}, {}));
  EXPECT_TRUE((*traces)->trace("local", "a"));
  auto store = open_store(file_);
  ASSERT_TRUE(store);
  EXPECT_EQ((*store)->find_index("local", "i")->documents, 1);
}

TEST_F(SqliteTraces, IsNotMadeWhereItIsOnlyToBeRead) {
  const auto opened = open_traces(file_, {.create = false});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::not_found);
  EXPECT_NE(opened.error().what.find("plimsoll serve"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(SqliteTraces, NamesATraceThatIsDamaged) {
  auto store = open_traces(file_);
  ASSERT_TRUE(store);
  const Trace trace = sample_trace("a");
  ASSERT_TRUE((*store)->keep(std::span(&trace, 1), {}, {}, {}));
  execute("UPDATE traces SET json = '{'");
  const auto read = (*store)->trace("local", "a");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Errc::damaged);
  EXPECT_TRUE(read.error().what.starts_with("trace a: "));
}

TEST_F(SqliteTraces, TakesNoLongerWhereThereAreMany) {
  auto store = open_traces(file_);
  ASSERT_TRUE(store);
  const double among_none = time_to_keep(**store, 0);
  execute(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) INSERT INTO traces "
      "SELECT printf('a%08d', i), 'local', '', unixepoch() * 1000, 300, hex(zeroblob(150)) FROM n");
  const double among_many = time_to_keep(**store, 100'000);
  // A scan of them all would take a hundred times as long.
  EXPECT_LT(among_many, 10 * among_none + 0.1);
}

}  // namespace
}  // namespace sqlite
}  // namespace plimsoll
