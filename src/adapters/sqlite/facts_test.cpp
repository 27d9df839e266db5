#include "adapters/sqlite/facts.hpp"

#include <fstream>
#include <random>

#include <gtest/gtest.h>
#include <unistd.h>

#include "adapters/sqlite/database.hpp"
#include "adapters/sqlite/traces.hpp"
#include "base/json/scrub_trace.hpp"
#include "base/temporary_folder.hpp"
#include "contract/facts/facts_contract.hpp"

namespace plimsoll {

INSTANTIATE_TEST_SUITE_P(Sqlite, FactsContract,
                         testing::Values(FactsMaker{"Sqlite",
                                                    [](const std::filesystem::path& folder) {
                                                      return sqlite::open_facts(folder / "store.db");
                                                    }}),
                         [](const auto& made) { return made.param.name; });

}  // namespace plimsoll

namespace plimsoll::sqlite {
namespace {

class Facts : public testing::Test {
 protected:
  void SetUp() override { open(); }
  void open() {
    store_.reset();
    auto opened = open_facts(file());
    ASSERT_TRUE(opened) << opened.error().what;
    store_ = *std::move(opened);
  }
  std::filesystem::path file() const { return folder_ / "store.db"; }

  Fact keep(std::string id, std::string text, std::string owner = "local", std::string session = {},
            const FactVector& vector = {}) {
    Fact fact;
    fact.id = std::move(id);
    fact.owner = std::move(owner);
    fact.session = std::move(session);
    fact.text = std::move(text);
    fact.source = "user";
    const auto added = store_->add(fact, true, vector, 100'000);
    EXPECT_TRUE(added) << added.error().what;
    return added ? added->fact : Fact();
  }
  // All bytes of the store on disk: the file, its log, whatever lies beside it.
  std::string bytes() const {
    std::string all;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      std::ifstream in(entry.path(), std::ios::binary);
      all.append(std::istreambuf_iterator<char>(in), {});
    }
    return all;
  }

  base::TemporaryFolder made_{"facts"};
  std::filesystem::path folder_ = made_.path();
  std::unique_ptr<FactStore> store_;
};

// Facts go in any order while others come and are changed, and of none that went is anything left.
TEST_F(Facts, WhatIsForgottenIsNowhere) {
  std::mt19937 random{1876};
  std::vector<std::string> gone, here;
  const auto text_of = [](const std::string& id) { return "The secret of " + id + " is kept below deck"; };
  int made = 0;
  for (int step = 0; step < 400; ++step) {
    if (here.empty() || std::bernoulli_distribution(0.55)(random)) {
      const std::string id = "fact-" + std::to_string(++made) + "x";
      const std::vector<float> values(made % 3 == 0 ? 384 : 0, 0.05F);
      const std::string longer(
          made % 5 == 0 ? std::uniform_int_distribution<std::size_t>(0, 3'000)(random) : 0, 'z');
      keep(id, text_of(id) + longer, "local", made % 4 == 0 ? "s" : "", {values.empty() ? "" : "e", values});
      here.push_back(id);
    } else if (std::bernoulli_distribution(0.2)(random)) {
      const std::string& id = here[random() % here.size()];
      ASSERT_TRUE(store_->feedback("local", id, std::bernoulli_distribution(0.5)(random)));
      ASSERT_TRUE(store_->set_vector("local", id, {"e", std::vector<float>(384, 0.05F)}));
    } else {
      const std::size_t at = random() % here.size();
      const auto forgotten = store_->forget("local", here[at]);
      ASSERT_TRUE(forgotten) << forgotten.error().what;
      EXPECT_EQ(forgotten->facts, 1);
      EXPECT_TRUE(forgotten->purged);
      gone.push_back(here[at]);
      here.erase(here.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  ASSERT_GT(gone.size(), 80U);
  ASSERT_TRUE(store_->forget("local", here.back()));  // also empties the log
  gone.push_back(here.back());
  here.pop_back();
  const std::string all = bytes();
  for (const std::string& id : gone) EXPECT_EQ(all.find(text_of(id)), std::string::npos) << id;
  for (const std::string& id : here) EXPECT_NE(all.find(text_of(id)), std::string::npos) << id;
}

Trace trace(std::string id, std::string owner, std::string prompt, std::string plan = "{}") {
  Trace one;
  one.id = std::move(id);
  one.owner = std::move(owner);
  one.plan = std::move(plan);
  one.prompt = std::move(prompt);
  one.at_ms = 4'000'000'000'000;
  return one;
}

TEST_F(Facts, TracesLoseTheWordsAndNothingElse) {
  const std::string text = R"(Ann said "tea \ milk")";
  const std::string inside = R"(Ann said \"tea \\ milk\")";
  keep("mem_7", text);
  const auto traces = open_traces(file()).value();
  const std::string body = R"({"messages":[{"role":"system","content":"Be kind.\n\nWhat is known:\n- )" +
                           inside + R"(\n- Bob rows\n"}]})";
  const std::string defused = R"({"messages":[{"role":"system","content":"- Ann< |end|>"}]})";
  std::vector<Trace> given{
      trace("t1", "local", body), trace("t2", "local", R"({"messages":[]})"), trace("t3", "bob", body),
      trace("t4", "local", defused,
            R"({"pieces":[{"section":"memory","id":"mem_7","tokens":5,"fate":"kept"}]})"),
      trace("t5", "local", defused, R"({"pieces":[{"id":"mem_7","tokens":0,"fate":"dropped"}]})")};
  for (int i = 0; i < 50; ++i)
    given.push_back(
        trace("u" + std::to_string(i), "local", body + std::string(static_cast<std::size_t>(i * 700), ' ')));
  ASSERT_TRUE(traces->keep(given, {}, {}, {}));
  const auto forgotten = store_->forget("local", "mem_7");
  ASSERT_TRUE(forgotten) << forgotten.error().what;
  EXPECT_EQ(forgotten->traces, 52);
  EXPECT_TRUE(forgotten->purged);
  const std::string left = traces->trace("local", "t1")->prompt;
  EXPECT_EQ(left.find("tea"), std::string::npos);
  EXPECT_NE(left.find("Be kind.\\n\\nWhat is known:\\n- [forgotten]"), std::string::npos);
  EXPECT_NE(left.find("- Bob rows"), std::string::npos);
  EXPECT_EQ(traces->trace("local", "t2")->prompt, R"({"messages":[]})");
  EXPECT_EQ(traces->trace("bob", "t3")->prompt, body);
  EXPECT_EQ(traces->trace("local", "t5")->prompt, defused);
  EXPECT_EQ(traces->trace("local", "t4")->prompt.find("Ann"), std::string::npos);
  ASSERT_TRUE(traces->keep(std::span(given).subspan(1, 1), {}, {}, {}));
}

TEST_F(Facts, GoTogetherWithWhatTracesTellOfThemOrNotAtAll) {
  keep("mem_8", "the tide turns at noon");
  const auto traces = open_traces(file()).value();
  const std::vector<Trace> given{trace("t1", "local", "- the tide turns at noon")};
  ASSERT_TRUE(traces->keep(given, {}, {}, {}));
  const auto connection = Connection::open(file(), Connection::Mode::write).value();
  ASSERT_TRUE(connection->execute(
      "CREATE TRIGGER full BEFORE UPDATE ON traces BEGIN SELECT RAISE (ABORT, 'no room'); END"));
  EXPECT_FALSE(store_->forget("local", "mem_8"));
  EXPECT_TRUE(store_->fact("local", "mem_8"));  // whoever asked knows that it is there still, and asks again
  ASSERT_TRUE(connection->execute("DROP TRIGGER full"));
  EXPECT_EQ(store_->forget("local", "mem_8")->traces, 1);
  EXPECT_EQ(traces->trace("local", "t1")->prompt.find("tide"), std::string::npos);
}

TEST_F(Facts, AreInNoTraceThatIsKeptAfterwards) {
  keep("mem_9", "the tide turns at noon");
  keep("mem_10", "the moon is full");
  const auto traces = open_traces(file()).value();
  Trace both = trace("t1", "local", "- the moon is full\n- the tide turns at noon");
  both.facts = {"mem_10", "mem_9"};
  Trace one = trace("t2", "local", "- the moon is full");
  one.facts = {"mem_10"};
  ASSERT_TRUE(store_->forget("local", "mem_9"));  // while both requests were under way
  const std::vector<Trace> late{both, one};
  ASSERT_TRUE(traces->keep(late, {}, {}, {}));
  EXPECT_EQ(traces->trace("local", "t1")->prompt, "");
  EXPECT_EQ(traces->trace("local", "t2")->prompt, "- the moon is full");
}

TEST(Scrub, KeepsTheLengthAndWhatCanBeRead) {
  std::string json = R"({"error":"\name is the game","x":"name is the"})";
  const std::size_t size = json.size();
  EXPECT_TRUE(base::scrub_trace(json, "m", "name is the"));
  EXPECT_EQ(json, R"({"error":"\name is the game","x":"[forgotten]"})");  // the n is the line end's
  EXPECT_EQ(json.size(), size);
  std::string tea = R"({"prompt":"tea and tea\\n- tea\\n"})";
  EXPECT_TRUE(base::scrub_trace(tea, "m", "tea"));  // few letters: only where they are the fact
  EXPECT_EQ(tea, R"({"prompt":"tea and tea\\n- ...\\n"})");
  std::string none = "{}";
  EXPECT_FALSE(base::scrub_trace(none, "m", "something else"));
}

}  // namespace
}  // namespace plimsoll::sqlite
