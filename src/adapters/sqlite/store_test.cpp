#include "adapters/sqlite/store.hpp"

#include <fstream>

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/temporary_folder.hpp"
#include "contract/store/store_contract.hpp"

namespace plimsoll {

INSTANTIATE_TEST_SUITE_P(Sqlite, StoreContract,
                         testing::Values(StoreMaker{"Sqlite",
                                                    [](const std::filesystem::path& folder) {
                                                      return sqlite::open_store(folder / "store.db");
                                                    }}),
                         [](const auto& made) { return made.param.name; });

namespace sqlite {
namespace {

#ifdef PLIMSOLL_EMULATED
constexpr bool can_fork = false;  // Debian's qemu-user hangs in it
#else
constexpr bool can_fork = true;
#endif

class SqliteStore : public testing::Test {
 protected:
  void TearDown() override {
    std::filesystem::permissions(folder_.path(), std::filesystem::perms::owner_all);
  }
  void execute(const char* sql) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(file_.c_str(), &handle), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, &error), SQLITE_OK)
        << (error != nullptr ? error : "");
    sqlite3_close(handle);
  }

  base::TemporaryFolder folder_{"store"};
  std::filesystem::path file_ = folder_ / "store.db";
};

TEST_F(SqliteStore, RefusesAStoreOfANewerProgram) {
  ASSERT_TRUE(open_store(file_));
  execute("PRAGMA user_version = 99");
  const auto opened = open_store(file_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::unsupported);
  EXPECT_NE(opened.error().what.find("schema 99"), std::string::npos);
}

TEST_F(SqliteStore, RefusesASchemaBelowZero) {
  ASSERT_TRUE(open_store(file_));
  for (const char* sql : {"PRAGMA user_version = -1", "PRAGMA user_version = -2147483648"}) {
    execute(sql);
    const auto opened = open_store(file_);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Errc::damaged) << opened.error().what;
  }
}

TEST_F(SqliteStore, DocumentsOfAnOlderStoreAreOfNoKnownFile) {
  {
    const auto store = open_store(file_);
    ASSERT_TRUE(store);
    const auto index = (*store)->create_index("local", "i", {});
    ASSERT_TRUE(index);
    const DocumentWithVectors put = sample_document("a.md", {"one"}, {});
    ASSERT_TRUE((*store)->put(index->id, std::span(&put, 1)));
  }
  execute(
      "ALTER TABLE documents DROP COLUMN file_path; ALTER TABLE documents DROP COLUMN file_root; "
      "DROP TABLE forget_orders; "
      "DROP TRIGGER trace_share_added; DROP TRIGGER trace_share_changed; DROP TRIGGER trace_share_removed; "
      "DROP TABLE trace_shares; DROP TRIGGER session_vectors_removed; DROP TABLE turn_vectors; "
      "ALTER TABLE usage DROP COLUMN nano_usd; ALTER TABLE usage DROP COLUMN priced; "
      "PRAGMA user_version = 7");
  const auto store = open_store(file_);
  ASSERT_TRUE(store) << store.error().what;
  const auto index = (*store)->find_index("local", "i");
  ASSERT_TRUE(index);
  const auto sources = (*store)->sources(index->id);
  ASSERT_TRUE(sources);
  ASSERT_EQ(sources->size(), 1U);
  EXPECT_EQ(sources->at(0).file.path, std::nullopt);
  DocumentWithVectors put = sample_document("a.md", {"two"}, {});
  put.document.file = {.path = "/p/a.md", .root = "/p"};
  ASSERT_TRUE((*store)->put(index->id, std::span(&put, 1)));
  EXPECT_EQ((*store)->sources(index->id)->at(0).file, put.document.file);
}

TEST_F(SqliteStore, GivesBackTheRoomOfWhatWasRemoved) {
  const auto store = open_store(file_);
  ASSERT_TRUE(store);
  const auto index = (*store)->create_index("local", "i", {});
  ASSERT_TRUE(index);
  std::vector<std::string> gone;
  for (int i = 0; i < 40; ++i) {
    const DocumentWithVectors put =
        sample_document(std::to_string(i), {std::string(50'000, static_cast<char>('a' + i % 26))}, {});
    ASSERT_TRUE((*store)->put(index->id, std::span(&put, 1)));
    if (i > 0) gone.push_back(put.document.key);
  }
  execute("PRAGMA wal_checkpoint(TRUNCATE)");
  const auto before = std::filesystem::file_size(file_);
  ASSERT_TRUE((*store)->remove(index->id, gone));
  const auto done = (*store)->compact();
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_LT(std::filesystem::file_size(file_) * 4, before);
  EXPECT_TRUE((*store)->verify(index->id)->empty());
  EXPECT_EQ((*store)->sources(index->id)->size(), 1U);
}

TEST_F(SqliteStore, SaysThatAFileIsNoStore) {
  std::ofstream(file_) << std::string(10'000, 'x');
  const auto opened = open_store(file_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::damaged);
}

TEST_F(SqliteStore, IsNotMadeWhereItIsOnlyToBeRead) {
  const auto opened = open_store(file_, {.create = false});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::not_found);
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(SqliteStore, CanBeReadWhereNothingMayBeWritten) {
  {
    auto store = open_store(file_);
    ASSERT_TRUE(store);
    const auto index = (*store)->create_index("local", "i", {});
    const auto document = sample_document("d", {"x"}, {});
    ASSERT_TRUE((*store)->put(index->id, std::span(&document, 1)));
  }
  std::filesystem::permissions(file_, std::filesystem::perms{0444});
  std::filesystem::permissions(folder_.path(), std::filesystem::perms{0555});
  if (!can_fork) GTEST_SKIP() << "no process can be started in the emulator";
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65'534) != 0) ::_exit(1);  // root may write anywhere
    auto store = open_store(file_);
    if (!store) ::_exit(2);
    const auto info = (*store)->find_index("local", "i");
    if (!info || info->documents != 1) ::_exit(3);
    const auto refused = (*store)->create_index("local", "j", {});
    ::_exit(!refused && refused.error().code == Errc::io_failed ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// A file that may not grow is what a full disk is to SQLite. In a child, because the limit cannot be taken
// back.
TEST_F(SqliteStore, LosesNothingWhereTheDiskIsFull) {
  {
    auto store = open_store(file_);
    ASSERT_TRUE(store);
    const auto index = (*store)->create_index("local", "i", {});
    const auto document = sample_document("kept", {"x"}, {});
    ASSERT_TRUE((*store)->put(index->id, std::span(&document, 1)));
  }
  if (!can_fork) GTEST_SKIP() << "no process can be started in the emulator";
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{400'000, 400'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto store = open_store(file_);
    if (!store) ::_exit(2);
    const auto index = (*store)->find_index("local", "i");
    const auto huge = sample_document("huge", {std::string(2'000'000, 'y')}, {});
    const auto put = (*store)->put(index->id, std::span(&huge, 1));
    const auto head = (*store)->head(index->id, "kept");
    ::_exit(!put && put.error().code == Errc::io_failed && head && *head ? 0 : 3);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  auto store = open_store(file_);
  ASSERT_TRUE(store);
  const auto index = (*store)->find_index("local", "i");
  EXPECT_EQ(index->documents, 1);
  const auto faults = (*store)->verify(index->id);
  ASSERT_TRUE(faults);
  EXPECT_TRUE(faults->empty());
}

TEST_F(SqliteStore, VerifyNamesTheDocumentThatIsDamaged) {
  auto store = open_store(file_);
  ASSERT_TRUE(store);
  const auto index = (*store)->create_index("local", "i", {});
  for (const char* key : {"a", "b"}) {
    const auto document = sample_document(key, {"x", "y"}, {});
    ASSERT_TRUE((*store)->put(index->id, std::span(&document, 1)));
  }
  execute("UPDATE chunks SET text = 'z' || substr(text, 2) WHERE id = (SELECT min(id) FROM chunks)");
  const auto other_text = (*store)->verify(index->id);
  ASSERT_TRUE(other_text);
  ASSERT_EQ(other_text->size(), 1U);
  EXPECT_EQ(other_text->at(0), "'a': its text does not have the checksum of its source");
  execute("UPDATE chunks SET text = 'x' || substr(text, 2) WHERE id = (SELECT min(id) FROM chunks)");
  execute("UPDATE chunks SET sentences = x'ff' WHERE id = (SELECT max(id) FROM chunks)");
  const auto faults = (*store)->verify(index->id);
  ASSERT_TRUE(faults);
  ASSERT_EQ(faults->size(), 1U);
  EXPECT_TRUE(faults->at(0).starts_with("'b': "));
  execute("DELETE FROM chunks WHERE id = (SELECT min(id) FROM chunks)");
  const auto more = (*store)->verify(index->id);
  ASSERT_TRUE(more);
  EXPECT_EQ(more->size(), 2U);
}

TEST_F(SqliteStore, WhatIsDeletedIsGoneFromTheFile) {
  {
    auto store = open_store(file_);
    ASSERT_TRUE(store);
    const auto index = (*store)->create_index("local", "i", {});
    const auto document = sample_document("d", {"the password is swordfish"}, {});
    ASSERT_TRUE((*store)->put(index->id, std::span(&document, 1)));
    const std::vector<std::string> keys{"d"};
    ASSERT_TRUE((*store)->remove(index->id, keys));
  }
  std::ifstream in(file_, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  ASSERT_GT(bytes.size(), 1'000U);
  EXPECT_EQ(bytes.find("swordfish"), std::string::npos);
}

}  // namespace
}  // namespace sqlite
}  // namespace plimsoll
