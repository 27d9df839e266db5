#include "contract/facts/facts_contract.hpp"

namespace plimsoll {

void FactsContract::reopen() {
  store_.reset();
  auto opened = GetParam().open(folder_);
  ASSERT_TRUE(opened) << opened.error().what;
  store_ = *std::move(opened);
}

Fact FactsContract::keep(std::string id, std::string text, std::string owner, std::string session,
                         const FactVector& vector) {
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

std::set<std::string> FactsContract::seen(const FactScope& scope) {
  std::set<std::string> ids;
  const auto facts = store_->facts(scope, 100);
  for (const Fact& fact : facts.value()) ids.insert(fact.id);
  return ids;
}

TEST_P(FactsContract, AreThereAfterARestartWithAllThatWasSaid) {
  const Fact kept = keep("mem_1", "Ann likes tea", "local", "s", {"e", {0.6F, 0.8F}});
  EXPECT_GT(kept.created_ms, 0);
  EXPECT_EQ(kept.updated_ms, kept.created_ms);
  reopen();
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

TEST_P(FactsContract, AreSeenByTheirOwnerAndTheirSessionAlone) {
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

TEST_P(FactsContract, TheSameWordsAreTheSameFact) {
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

TEST_P(FactsContract, FeedbackMovesTrustAndIsRemembered) {
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

TEST_P(FactsContract, ASessionsFactsGoTogether) {
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

TEST_P(FactsContract, AreListedNewestFirstAndNoMoreThanAskedFor) {
  keep("m1", "the first");
  keep("m2", "the second");
  keep("m3", "the third");
  const auto facts = store_->facts({"local"}, 2);
  ASSERT_TRUE(facts);
  ASSERT_EQ(facts->size(), 2U);
  EXPECT_EQ((*facts)[0].id, "m3");
  EXPECT_EQ((*facts)[1].id, "m2");
}

TEST_P(FactsContract, AVectorIsSetLaterAndGoesWithItsFact) {
  keep("m1", "Ann likes tea");
  ASSERT_TRUE(store_->set_vector("local", "m1", {"e", {0.6F, 0.8F}}));
  FactVector found;
  ASSERT_TRUE(store_->each_fact({"local"}, [&](Fact&&, FactVector&& vector) { found = std::move(vector); }));
  EXPECT_EQ(found.values, (std::vector<float>{0.6F, 0.8F}));
  const auto gone = store_->forget("local", "m1");
  ASSERT_TRUE(gone) << gone.error().what;
  EXPECT_EQ(gone->facts, 1);
  EXPECT_EQ(store_->fact("local", "m1").error().code, Errc::not_found);
  EXPECT_FALSE(store_->has_facts({"local"}).value());
}

}  // namespace plimsoll
