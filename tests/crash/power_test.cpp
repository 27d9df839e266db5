// The power fails at random moments while documents, turns, kept responses, memories and keys are written.
// What was acknowledged must be there afterwards, whole, whatever became of what was not synced yet.
#include <cstdlib>
#include <map>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "adapters/sqlite/facts.hpp"
#include "adapters/sqlite/keys.hpp"
#include "adapters/sqlite/sessions.hpp"
#include "adapters/sqlite/store.hpp"
#include "base/sha256.hpp"
#include "base/temporary_folder.hpp"
#include "contract/store/store_contract.hpp"
#include "failing_disk.hpp"

namespace plimsoll {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StoreContract);  // of the file that has sample documents

namespace {

// What was acknowledged.
struct Kept {
  std::map<std::string, std::string> texts;  // documents by key
  std::size_t turns = 0;
  std::map<std::string, std::string> responses;  // by id
  std::map<std::string, double> memories;        // trust by text
  std::map<std::string, bool> keys;              // by name: whether it is revoked
};

class Writer {
 public:
  Writer(const std::filesystem::path& folder, std::uint32_t seed)
      : random_(seed),
        store_(*sqlite::open_store(folder / "store.db")),
        sessions_(*sqlite::open_sessions(folder / "store.db")),
        facts_(*sqlite::open_facts(folder / "store.db")),
        keys_(*sqlite::open_keys(folder / "store.db")) {
    index_ = store_->create_index("local", "docs", {})->id;
  }

  void step() {
    const auto kind = random_() % 15;
    if (kind < 5)
      put();
    else if (kind < 6)
      remove();
    else if (kind < 8)
      say();
    else if (kind < 10)
      respond();
    else if (kind < 13)
      remember();
    else
      admit();
  }

  const Kept& kept() const { return kept_; }

 private:
  void put() {
    const std::string key = fmt::format("{}.md", random_() % 20);
    const std::string text = fmt::format("{} ", random_()) + std::string(random_() % 20'000, 'x');
    const DocumentWithVectors document = sample_document(key, {text}, {});
    ASSERT_TRUE(store_->put(index_, std::span(&document, 1)));
    kept_.texts[key] = document.document.text;
  }

  void remove() {
    if (kept_.texts.empty()) return;
    const std::string key = kept_.texts.begin()->first;
    ASSERT_TRUE(store_->remove(index_, std::vector{key}));
    kept_.texts.erase(key);
  }

  void say() {
    const Turn pair[] = {{"user", "How deep?", 1, "t", "docs", "m"},
                         {"assistant", "Aye.", 1, "t", "docs", "m"}};
    ASSERT_TRUE(sessions_->append("local", "s", pair, {}));
    kept_.turns += 2;
  }

  void respond() {
    Run run;
    run.id = fmt::format("run-{}", kept_.responses.size());
    run.owner = "local";
    run.kind = "response";
    run.state = RunState::done;
    run.outcome = std::string(random_() % 5'000, 'y');
    ASSERT_TRUE(sessions_->begin_run(run, 1'000));
    kept_.responses[run.id] = run.outcome;
  }

  // Adds a memory, rates one or forgets one.
  void remember() {
    const std::string text = fmt::format("memory {}", random_() % 8);
    const auto known = ids_.find(text);
    if (known == ids_.end()) {
      Fact fact;
      fact.id = fmt::format("mem_{}", memories_++);
      fact.owner = "local";
      fact.text = text;
      const auto added = facts_->add(fact, true, {}, 1'000);
      ASSERT_TRUE(added) << added.error().what;
      ids_[text] = added->fact.id;
      kept_.memories[text] = added->fact.trust;
    } else if (random_() % 2 == 0) {
      const auto rated = facts_->feedback("local", known->second, true);
      ASSERT_TRUE(rated) << rated.error().what;
      kept_.memories[text] = rated->trust;
    } else {
      ASSERT_TRUE(facts_->forget("local", known->second));
      ids_.erase(known);
      kept_.memories.erase(text);
    }
  }

  // Adds a key, or revokes one.
  void admit() {
    const std::string name = fmt::format("key-{}", random_() % 8);
    if (kept_.keys.contains(name)) {
      if (kept_.keys[name]) return;
      ASSERT_TRUE(keys_->revoke(name));
      kept_.keys[name] = true;
      return;
    }
    ApiKey key;
    key.id = key.name = name;
    key.hash = base::sha256_hex(name);
    ASSERT_TRUE(keys_->add(key));
    kept_.keys[name] = false;
  }

  std::mt19937 random_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<SessionStore> sessions_;
  std::unique_ptr<FactStore> facts_;
  std::unique_ptr<KeyStore> keys_;
  IndexId index_ = 0;
  std::map<std::string, std::string> ids_;  // of memories by text
  int memories_ = 0;
  Kept kept_;
};

// All that was acknowledged; of a step that was under way, all or nothing.
void expect_all(const std::filesystem::path& folder, const Kept& before, const Kept& after) {
  const auto store = sqlite::open_store(folder / "store.db", {.create = false});
  ASSERT_TRUE(store) << store.error().what;
  const auto index = (*store)->find_index("local", "docs");
  ASSERT_TRUE(index) << index.error().what;
  const auto faults = (*store)->verify(index->id);
  ASSERT_TRUE(faults) << faults.error().what;
  EXPECT_TRUE(faults->empty()) << faults->front();
  const auto heads = (*store)->documents(index->id, {}, 0, 1'000);
  ASSERT_TRUE(heads);
  std::map<std::string, std::string> texts;
  for (const DocumentHead& head : *heads) texts[head.key] = (*store)->document(head.id)->document.text;
  EXPECT_TRUE(texts == before.texts || texts == after.texts)
      << texts.size() << " documents instead of " << after.texts.size();
  const auto sessions = sqlite::open_sessions(folder / "store.db");
  ASSERT_TRUE(sessions);
  const std::size_t turns = (*sessions)->turns("local", "s")->size();
  EXPECT_TRUE(turns == before.turns || turns == after.turns) << turns;
  for (const auto& [id, outcome] : before.responses) {
    const auto run = (*sessions)->run("local", "response", id);
    ASSERT_TRUE(run) << id;
    EXPECT_EQ(run->outcome, outcome) << id;
  }
  const auto facts = sqlite::open_facts(folder / "store.db");
  ASSERT_TRUE(facts);
  std::map<std::string, double> memories;
  const auto listed = (*facts)->facts({.owner = "local"}, 1'000);
  ASSERT_TRUE(listed) << listed.error().what;
  for (const Fact& fact : *listed) memories[fact.text] = fact.trust;
  EXPECT_TRUE(memories == before.memories || memories == after.memories) << memories.size();
  const auto keys = sqlite::open_keys(folder / "store.db");
  ASSERT_TRUE(keys);
  std::map<std::string, bool> admitted;
  const auto listed_keys = (*keys)->keys();
  ASSERT_TRUE(listed_keys) << listed_keys.error().what;
  for (const ApiKey& key : *listed_keys) admitted[key.name] = key.revoked;
  EXPECT_TRUE(admitted == before.keys || admitted == after.keys) << admitted.size();
}

TEST(PowerLoss, NothingAcknowledgedIsLost) {
  const char* wish = std::getenv("PLIMSOLL_CRASH_ROUNDS");
  const int rounds = wish != nullptr ? std::stoi(wish) : 12;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    const base::TemporaryFolder made("power");
    const std::filesystem::path folder = made / "disk";
    std::filesystem::create_directories(folder);
    FailingDisk disk(folder);
    std::mt19937 random(static_cast<std::uint32_t>(round));
    Writer writer(folder, static_cast<std::uint32_t>(round));
    for (int loss = 0; loss < 4; ++loss) {
      const std::filesystem::path left = made / fmt::format("after-{}", loss);
      Kept before = writer.kept();
      if (loss % 2 == 0) {  // between two steps
        for (auto steps = random() % 30; steps > 0; --steps) writer.step();
        disk.lose_power(left, random);
        before = writer.kept();
      } else {  // in the middle of one
        disk.lose_power_in(1 + static_cast<int>(random() % 60), left, random);
        while (!disk.has_lost_power()) {
          before = writer.kept();
          writer.step();
        }
      }
      expect_all(left, before, writer.kept());
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(disk.syncs(), 0U);
  }
}

// The disk itself: a store that does not sync loses what it acknowledged. Else the test above shows nothing.
TEST(PowerLoss, WhatIsNotSyncedMayBeLost) {
  const base::TemporaryFolder made("power");
  const std::filesystem::path folder = made / "disk";
  std::filesystem::create_directories(folder);
  FailingDisk disk(folder);
  std::mt19937 random(1);
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open((folder / "careless.db").c_str(), &handle), SQLITE_OK);
  sqlite3_exec(handle, "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE t (x)", nullptr,
               nullptr, nullptr);
  int lost = 0;
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(sqlite3_exec(handle, "INSERT INTO t VALUES (randomblob(3000))", nullptr, nullptr, nullptr),
              SQLITE_OK);
    const std::filesystem::path left = made / fmt::format("after-{}", i);
    disk.lose_power(left, random);
    sqlite3* after = nullptr;
    sqlite3_stmt* count = nullptr;
    sqlite3_open((left / "careless.db").c_str(), &after);
    const bool whole =
        sqlite3_prepare_v2(after, "SELECT count(*) FROM t", -1, &count, nullptr) == SQLITE_OK &&
        sqlite3_step(count) == SQLITE_ROW && sqlite3_column_int(count, 0) == i + 1;
    lost += whole ? 0 : 1;
    sqlite3_finalize(count);
    sqlite3_close(after);
  }
  sqlite3_close(handle);
  EXPECT_GT(lost, 10);
}

}  // namespace
}  // namespace plimsoll
