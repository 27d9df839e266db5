#include "adapters/postgres/documents.hpp"

#include <atomic>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "adapters/postgres/database.hpp"
#include "adapters/postgres/index_turns.hpp"
#include "adapters/postgres/testing_server.hpp"
#include "base/temporary_folder.hpp"
#include "contract/store/store_contract.hpp"

namespace plimsoll::postgres {
namespace {

class PostgresDocumentRows : public testing::Test {
 protected:
  void SetUp() override {
    if (test_server() == nullptr) GTEST_SKIP() << no_server;
    options_ = test_options(folder_.path());
  }

  // Another gateway: it shares nothing with the others but the server.
  std::unique_ptr<Store> gateway(const std::string& name) {
    Options own = options_;
    own.url = base::Secret(own.url.reveal() + "?application_name=" + name);
    auto opened = open_documents(own);
    EXPECT_TRUE(opened) << opened.error().what;
    return opened ? *std::move(opened) : nullptr;
  }

  std::int64_t number(const std::string& sql) {
    auto database = Database::open(options_);
    EXPECT_TRUE(database);
    const auto found = (*database)->once([&](Connection& connection) -> Result<std::int64_t> {
      TRY(const Rows rows, connection.run(sql));
      return rows.count() > 0 ? rows.integer(0, 0) : 0;
    });
    EXPECT_TRUE(found) << found.error().what;
    return found.value_or(-1);
  }

  base::TemporaryFolder folder_{"documents"};
  Options options_;
};

std::vector<std::string> some_texts(int count) {
  std::vector<std::string> texts;
  for (int i = 0; i < count; ++i) texts.push_back("text " + std::to_string(i));
  return texts;
}

// An index that reads only what is above the highest id that it has seen must miss nothing.
TEST_F(PostgresDocumentRows, WhoReadsWhatIsNewMissesNothingThatOthersWrite) {
  const auto first = gateway("first"), second = gateway("second"), reader = gateway("reader");
  ASSERT_TRUE(first && second && reader);
  const auto index = first->create_index("local", "i", {});
  ASSERT_TRUE(index);
  constexpr int documents = 60;
  std::atomic<int> running = 2;
  const auto write = [&](Store& store, const std::string& name) {
    for (int i = 0; i < documents; ++i) {
      const auto document = sample_document(name + std::to_string(i), some_texts(1 + i % 7), {});
      const auto put = store.put(index->id, std::span(&document, 1));
      EXPECT_TRUE(put) << put.error().what;
    }
    --running;
  };
  std::jthread one([&] { write(*first, "a"); }), two([&] { write(*second, "b"); });
  std::set<ChunkId> seen;
  ChunkId highest = 0;
  int reads = 0;
  for (bool last = false; !last; ++reads) {
    last = running == 0;
    const auto walked = reader->each_chunk(index->id, highest, [&](const StoredChunk& chunk, auto) {
      EXPECT_GT(chunk.id, highest);
      highest = chunk.id;
      seen.insert(chunk.id);
      return Result<void>();
    });
    ASSERT_TRUE(walked) << walked.error().what;
  }
  EXPECT_GT(reads, 3);
  const auto living = reader->living(index->id);
  ASSERT_TRUE(living);
  EXPECT_EQ(living->size(), seen.size());
  EXPECT_TRUE(std::equal(living->begin(), living->end(), seen.begin(), seen.end()));
  EXPECT_TRUE(reader->verify(index->id)->empty());
  EXPECT_EQ(reader->find_stamp("local", "i")->revision, 2 * documents);
}

TEST_F(PostgresDocumentRows, OneGatewaySeesWhatAnotherRemovedAtOnce) {
  const auto first = gateway("first"), second = gateway("second");
  ASSERT_TRUE(first && second);
  const auto index = first->create_index("local", "i", {});
  const auto document = sample_document("d", {"one", "two"}, {});
  const auto ids = first->put(index->id, std::span(&document, 1));
  ASSERT_TRUE(ids);
  const auto before = second->find_stamp("local", "i");
  ASSERT_TRUE(before);
  const std::vector<std::string> keys{"d"};
  ASSERT_TRUE(first->remove(index->id, keys));
  EXPECT_GT(second->find_stamp("local", "i")->revision, before->revision);
  EXPECT_EQ(second->document(ids->at(0)).error().code, Errc::not_found);
  EXPECT_TRUE(second->chunks(index->id, std::vector<ChunkId>{1, 2})->empty());
  EXPECT_EQ(second->removed_since(index->id, before->revision)->value().size(), 1U);
}

TEST_F(PostgresDocumentRows, NothingIsLeftOfAnIndexThatWasRemoved) {
  const auto store = gateway("only");
  ASSERT_TRUE(store);
  const auto index = store->create_index("local", "i", {});
  std::vector<DocumentWithVectors> documents;
  for (int i = 0; i < 3; ++i)
    documents.push_back(sample_document(std::to_string(i), some_texts(2'500), {}));  // more than at once
  const auto ids = store->put(index->id, documents);
  ASSERT_TRUE(ids) << ids.error().what;
  ASSERT_TRUE(store->remove_index(index->id));
  EXPECT_EQ(store->document(ids->at(0)).error().code, Errc::not_found);
  EXPECT_EQ(store->put(index->id, documents).error().code, Errc::not_found);
  for (const char* table : {"chunks", "documents", "removals", "embedders", "dropped_indexes"})
    EXPECT_EQ(number(std::string("SELECT count(*) FROM ") + table), 0) << table;
}

// As after a gateway that was killed between the removal and the clean-up.
TEST_F(PostgresDocumentRows, NobodySeesDocumentsOfARemovedIndexAndTheNextGatewayDeletesThem) {
  const auto store = gateway("only");
  ASSERT_TRUE(store);
  const auto index = store->create_index("local", "i", {});
  const auto document = sample_document("d", {"one"}, {});
  const auto ids = store->put(index->id, std::span(&document, 1));
  ASSERT_TRUE(ids);
  number("WITH gone AS (DELETE FROM indexes RETURNING id) INSERT INTO dropped_indexes SELECT id FROM gone");
  EXPECT_EQ(number("SELECT count(*) FROM documents"), 1);
  EXPECT_EQ(store->document(ids->at(0)).error().code, Errc::not_found);
  EXPECT_TRUE(store->heads(*ids)->empty());
  EXPECT_EQ(store->origins(ids->at(0)).error().code, Errc::not_found);
  EXPECT_TRUE(store->matching(index->id, {})->empty());
  EXPECT_TRUE(store->living(index->id)->empty());
  EXPECT_TRUE(store->sources(index->id)->empty());
  ASSERT_TRUE(gateway("next"));
  EXPECT_EQ(number("SELECT count(*) FROM documents"), 0);
  EXPECT_EQ(number("SELECT count(*) FROM chunks"), 0);
}

TEST_F(PostgresDocumentRows, TakesAnyBytesAndLongNames) {
  const auto store = gateway("only");
  ASSERT_TRUE(store);
  const std::string name(20'000, 'n'), key = std::string("\0'\xff", 3) + std::string(20'000, 'k');
  const auto index = store->create_index("local", name, {});
  ASSERT_TRUE(index) << index.error().what;
  auto document = sample_document(key, {std::string("a\0b", 3)}, {});
  document.document.metadata = {{std::string("\0", 1), "\"\\u0000\""}};
  ASSERT_TRUE(store->put(index->id, std::span(&document, 1)));
  const auto head = store->head(store->find_stamp("local", name)->id, key);
  ASSERT_TRUE(head && *head);
  EXPECT_EQ((*head)->key, key);
  EXPECT_EQ(store->document((*head)->id)->document.text, document.document.text);
  EXPECT_EQ(store->matching(index->id, document.document.metadata)->size(), 1U);
}

TEST_F(PostgresDocumentRows, TheLastOfTwoDocumentsOfABatchWithOneKeyCounts) {
  const auto store = gateway("only");
  ASSERT_TRUE(store);
  const auto index = store->create_index("local", "i", {});
  const DocumentWithVectors batch[] = {sample_document("d", {"1"}, {}), sample_document("e", {"2"}, {}),
                                       sample_document("d", {"3", "4"}, {})};
  const auto ids = store->put(index->id, batch);
  ASSERT_TRUE(ids) << ids.error().what;
  ASSERT_EQ(ids->size(), 3U);
  EXPECT_EQ(store->document(ids->at(2))->document.text, "3\n4\n");
  EXPECT_EQ(store->document(ids->at(0)).error().code, Errc::not_found);
  EXPECT_EQ(store->find_index("local", "i")->chunks, 3);
  EXPECT_TRUE(store->verify(index->id)->empty());
}

TEST_F(PostgresDocumentRows, VerifyNamesWhatIsDamaged) {
  const auto store = gateway("only");
  ASSERT_TRUE(store);
  const auto index = store->create_index("local", "i", {});
  for (const char* key : {"a", "b"}) {
    const auto document = sample_document(key, {"x", "y"}, {});
    ASSERT_TRUE(store->put(index->id, std::span(&document, 1)));
  }
  number("UPDATE chunks SET sentences = '\\xff' WHERE id = (SELECT max(id) FROM chunks)");
  auto faults = store->verify(index->id);
  ASSERT_TRUE(faults) << faults.error().what;
  ASSERT_EQ(faults->size(), 1U);
  EXPECT_TRUE(faults->at(0).starts_with("'b': ")) << faults->at(0);
  number("DELETE FROM chunks WHERE id = (SELECT min(id) FROM chunks)");
  faults = store->verify(index->id);
  ASSERT_TRUE(faults);
  EXPECT_EQ(faults->size(), 3U);
  EXPECT_EQ(faults->at(0), "it has 3 rows of chunks instead of 4");
}

TEST_F(PostgresDocumentRows, TablesWithoutDocumentsGetThem) {
  {
    const auto store = gateway("old");
    ASSERT_TRUE(store);
    number(
        "DO $$ BEGIN DROP TABLE store_identity, embedders, removals, documents, chunks, dropped_indexes, "
        "indexes; DROP FUNCTION limits_work; UPDATE schema_version SET version = 1; END $$");
  }
  const auto store = gateway("new");
  ASSERT_TRUE(store);
  EXPECT_TRUE(store->create_index("local", "i", {}));
}

TEST_F(PostgresDocumentRows, GatewaysOfAnOlderVersionTakeAndSettleAsBefore) {
  ASSERT_TRUE(gateway("any"));
  EXPECT_EQ(
      number("SELECT minute_left FROM limits_take(1, 'ann', 0, 500, 0, 1, 0, 0, 100, 50, false, 512, 4)"),
      350);
  EXPECT_EQ(number("SELECT reserved FROM limits WHERE owner = 'ann'"), 150);
  EXPECT_EQ(number("SELECT used FROM limits_settle(1, 'ann', 20, 150, 150, 0, 0)"), 20);
  EXPECT_EQ(number("SELECT beyond FROM limits_take(1, 'ann', 0, 0, 50, 0, 0, 0, 31, 0, false, 512, 4)"), 3);
}

TEST_F(PostgresDocumentRows, OneGatewayAtATimeHasTheTurnOfAnIndex) {
  const auto first = IndexTurns::make(options_), second = IndexTurns::make(options_);
  std::atomic<int> inside = 0, most_inside = 0, taken = 0;
  const auto work = [&](IndexTurns& turns) {
    for (int i = 0; i < 30; ++i) {
      const auto turn = turns.take("local", "i");
      ASSERT_TRUE(turn) << turn.error().what;
      most_inside = std::max<int>(most_inside, ++inside);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      --inside;
      ++taken;
    }
  };
  {
    std::jthread a([&] { work(*first); }), b([&] { work(*second); }), c([&] { work(*second); });
  }
  EXPECT_EQ(taken, 90);
  EXPECT_EQ(most_inside, 1);
  const auto held = first->take("local", "i");
  ASSERT_TRUE(held);
  EXPECT_TRUE(second->take("local", "j"));
  EXPECT_TRUE(second->take("other", "i"));
}

TEST_F(PostgresDocumentRows, ATurnIsNotWaitedForForEver) {
  options_.statement = std::chrono::milliseconds(600);
  const auto first = IndexTurns::make(options_), second = IndexTurns::make(options_);
  auto held = first->take("local", "i");
  ASSERT_TRUE(held);
  const auto refused = second->take("local", "i");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unreachable);
  EXPECT_NE(refused.error().what.find("busy"), std::string::npos) << refused.error().what;
  held->reset();
  EXPECT_TRUE(second->take("local", "i"));
}

TEST_F(PostgresDocumentRows, EachStoreHasAnIdentityOfItsOwn) {
  const auto mine = store_identity(options_);
  ASSERT_TRUE(mine) << mine.error().what;
  EXPECT_EQ(mine->size(), 36U);
  EXPECT_EQ(*store_identity(options_), *mine);
  const base::TemporaryFolder other("documents");
  EXPECT_NE(*store_identity(test_options(other.path())), *mine);
}

}  // namespace
}  // namespace plimsoll::postgres
