#include "adapters/sqlite/facts.hpp"

#include <fstream>
#include <random>
#include <set>

#include <gtest/gtest.h>
#include <unistd.h>

#include "adapters/sqlite/database.hpp"
#include "adapters/sqlite/fact_scrub.hpp"
#include "adapters/sqlite/traces.hpp"
#include "base/temporary_folder.hpp"

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
  std::set<std::string> seen(const FactScope& scope) {
    std::set<std::string> ids;
    const auto facts = store_->facts(scope, 100);
    for (const Fact& fact : facts.value()) ids.insert(fact.id);
    return ids;
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

TEST_F(Facts, AreThereAfterARestartWithAllThatWasSaid) {
  const Fact kept = keep("mem_1", "Ann likes tea", "local", "s", {"e", {0.6F, 0.8F}});
  EXPECT_GT(kept.created_ms, 0);
  EXPECT_EQ(kept.updated_ms, kept.created_ms);
  open();
  EXPECT_EQ(store_->fact("local", "mem_1").value(), kept);
  int visited = 0;
  ASSERT_TRUE(store_->each_fact({"local"}, [&](Fact&& fact, FactVector&& vector) {
    ++visited;
    EXPECT_EQ(fact, kept);
    EXPECT_EQ(vector.embedder, "e");
    EXPECT_EQ(vector.values, (std::vector<float>{0.6F, 0.8F}));
  }));
  EXPECT_EQ(visited, 1);
}

TEST_F(Facts, AreSeenByTheirOwnerAndTheirSessionAlone) {
  keep("a1", "of all");
  keep("a2", "of one", "local", "one");
  keep("a3", "of two", "local", "two");
  keep("b1", "of bob", "bob");
  using Ids = std::set<std::string>;
  EXPECT_EQ(seen({"local"}), (Ids{"a1", "a2", "a3"}));
  EXPECT_EQ(seen({"local", "one"}), Ids{"a2"});
  EXPECT_EQ(seen({"local", "one", true}), (Ids{"a1", "a2"}));
  EXPECT_EQ(seen({"local", "", true}), Ids{"a1"});
  EXPECT_EQ(seen({"bob", "one", true}), Ids{"b1"});
  EXPECT_EQ(store_->fact("bob", "a1").error().code, Errc::not_found);
  EXPECT_EQ(store_->feedback("bob", "a1", true).error().code, Errc::not_found);
  EXPECT_EQ(store_->forget("bob", "a1").error().code, Errc::not_found);
  EXPECT_EQ(store_->history("bob", "a1").error().code, Errc::not_found);
  EXPECT_EQ(store_->set_vector("bob", "a1", {"e", {1}}).error().code, Errc::not_found);
  EXPECT_FALSE(store_->has_facts({"eve"}).value());
  EXPECT_TRUE(store_->has_facts({"bob"}).value());
}

TEST_F(Facts, TheSameWordsAreTheSameFact) {
  const Fact first = keep("m1", "Ann likes tea");
  ASSERT_TRUE(store_->feedback("local", "m1", true));
  Fact again = first;
  again.id = "m2";
  again.importance = 0.95;
  const auto added = store_->add(again, true, {}, 1);  // there is no room for another, and this is none
  ASSERT_TRUE(added) << added.error().what;
  EXPECT_FALSE(added->is_new);
  EXPECT_EQ(added->fact.id, "m1");
  EXPECT_EQ(added->fact.importance, 0.95);
  EXPECT_EQ(added->fact.trust, 0.55);
  again.importance = 0.7;
  EXPECT_EQ(store_->add(again, /*weighed=*/false, {}, 1)->fact.importance, 0.95);
  EXPECT_EQ(keep("m3", "Ann likes tea", "local", "s").id, "m3");
  EXPECT_EQ(keep("m4", "Ann likes tea", "bob").id, "m4");
  Fact more = first;
  more.id = "m5";
  more.text = "another";
  EXPECT_EQ(store_->add(more, true, {}, 2).error().code, Errc::bad_input);
}

TEST_F(Facts, FeedbackMovesTrustAndIsRemembered) {
  keep("m", "Ann likes tea");
  for (const bool helpful : {true, true, false}) ASSERT_TRUE(store_->feedback("local", "m", helpful));
  EXPECT_EQ(store_->fact("local", "m")->trust, 0.5);
  const auto history = store_->history("local", "m").value();
  ASSERT_EQ(history.size(), 3U);
  EXPECT_TRUE(history[0].helpful);
  EXPECT_EQ(history[0].trust, 0.55);
  EXPECT_FALSE(history[2].helpful);
  for (int i = 0; i < 150; ++i) ASSERT_TRUE(store_->feedback("local", "m", false));
  EXPECT_EQ(store_->fact("local", "m")->trust, 0.0);
  EXPECT_EQ(store_->history("local", "m")->size(), 100U);
}

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

TEST_F(Facts, ASessionsFactsGoTogether) {
  keep("a", "of all");
  keep("b", "the first of s", "local", "s");
  keep("c", "the second of s", "local", "s");
  keep("d", "of another's s", "bob", "s");
  EXPECT_EQ(store_->forget_session("local", "s")->facts, 2);
  EXPECT_EQ(store_->forget_session("local", "s")->facts, 0);
  EXPECT_FALSE(store_->forget_session("local", ""));
  EXPECT_EQ(seen({"local"}), std::set<std::string>{"a"});
  EXPECT_EQ(seen({"bob"}), std::set<std::string>{"d"});
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
  EXPECT_TRUE(scrub(json, "m", "name is the"));
  EXPECT_EQ(json, R"({"error":"\name is the game","x":"[forgotten]"})");  // the n is the line end's
  EXPECT_EQ(json.size(), size);
  std::string tea = R"({"prompt":"tea and tea\\n- tea\\n"})";
  EXPECT_TRUE(scrub(tea, "m", "tea"));  // few letters: only where they are the fact
  EXPECT_EQ(tea, R"({"prompt":"tea and tea\\n- ...\\n"})");
  std::string none = "{}";
  EXPECT_FALSE(scrub(none, "m", "something else"));
}

}  // namespace
}  // namespace plimsoll::sqlite
