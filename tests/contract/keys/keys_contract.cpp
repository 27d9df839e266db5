#include "contract/keys/keys_contract.hpp"

#include <thread>

#include <fmt/format.h>

namespace plimsoll {
namespace {

using Lines = std::vector<std::string>;

ApiKey sample_key(const std::string& name) {
  ApiKey key;
  key.id = "key_" + name;
  key.name = name;
  key.hash = "hash of " + name;
  key.created_ms = 1'700'000'000'000;
  key.private_indexes = true;
  key.limits = {10, 2'000, 300'000};
  return key;
}

}  // namespace

void KeysContract::SetUp() {
  ASSERT_FALSE(folder_.empty());
  reopen();
}

void KeysContract::TearDown() {
  store_.reset();
  traces_.reset();
}

void KeysContract::reopen() {
  store_.reset();
  traces_.reset();
  auto opened = GetParam().open(folder_);
  ASSERT_TRUE(opened) << opened.error().what;
  store_ = *std::move(opened);
  auto traces = GetParam().open_traces(folder_);
  ASSERT_TRUE(traces) << traces.error().what;
  traces_ = *std::move(traces);
}

void KeysContract::use(const std::vector<UsedTokens>& used) {
  const auto kept = traces_->keep({}, {}, used, {});
  ASSERT_TRUE(kept) << kept.error().what;
}

Lines KeysContract::sums(const UsageWish& wish) {
  const auto found = store_->usage(wish);
  EXPECT_TRUE(found);
  Lines out;
  if (found)
    for (const UsageSum& sum : *found)
      out.push_back(fmt::format("{}/{} {} {}", sum.group, sum.section, sum.tokens, sum.requests));
  return out;
}

TEST_P(KeysContract, KeepsAKeyOverARestart) {
  ASSERT_TRUE(store_->add(sample_key("ann")));
  ASSERT_TRUE(store_->add(sample_key("bob")));
  reopen();
  const auto keys = store_->keys();
  ASSERT_TRUE(keys);
  ASSERT_EQ(keys->size(), 2U);
  const ApiKey &ann = keys->front(), expected = sample_key("ann");
  EXPECT_EQ(ann.id, expected.id);
  EXPECT_EQ(ann.name, "ann");
  EXPECT_EQ(ann.hash, expected.hash);
  EXPECT_EQ(ann.created_ms, expected.created_ms);
  EXPECT_TRUE(ann.private_indexes);
  EXPECT_EQ(ann.limits, expected.limits);
  EXPECT_FALSE(ann.revoked);
  EXPECT_EQ(keys->back().name, "bob");
}

TEST_P(KeysContract, FindsAKeyByItsHashAlone) {
  ASSERT_TRUE(store_->add(sample_key("ann")));
  EXPECT_EQ(store_->find("hash of ann")->name, "ann");
  for (const char* wrong : {"", "ann", "key_ann", "hash of bob", "HASH OF ANN", "%"}) {
    const auto found = store_->find(wrong);
    ASSERT_FALSE(found) << wrong;
    EXPECT_EQ(found.error().code, Errc::not_found);
  }
}

TEST_P(KeysContract, GivesNoNameTwice) {
  ASSERT_TRUE(store_->add(sample_key("ann")));
  ApiKey again = sample_key("ann");
  again.id = "key_other";
  again.hash = "another";
  const auto added = store_->add(again);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Errc::bad_input);
  ASSERT_TRUE(store_->revoke("ann"));
  EXPECT_FALSE(store_->add(again));
  EXPECT_EQ(store_->keys()->size(), 1U);
}

TEST_P(KeysContract, ChangesLimitsAndSecretsOfTheOneThatIsNamed) {
  ASSERT_TRUE(store_->add(sample_key("ann")));
  ASSERT_TRUE(store_->add(sample_key("bob")));
  EXPECT_EQ(store_->set_limits("bob", {1, 2, 3})->limits, (KeyLimits{1, 2, 3}));
  EXPECT_EQ(store_->set_hash("bob", "new")->hash, "new");
  reopen();
  EXPECT_EQ(store_->find("new")->limits, (KeyLimits{1, 2, 3}));
  EXPECT_FALSE(store_->find("hash of bob"));
  EXPECT_EQ(store_->find("hash of ann")->limits, sample_key("ann").limits);
}

TEST_P(KeysContract, ARevokedKeyStaysRevoked) {
  ASSERT_TRUE(store_->add(sample_key("ann")));
  EXPECT_TRUE(store_->revoke("ann")->revoked);
  reopen();
  EXPECT_TRUE(store_->find("hash of ann")->revoked);
  EXPECT_EQ(store_->revoke("ann").error().code, Errc::bad_input);
  EXPECT_EQ(store_->set_limits("ann", {}).error().code, Errc::bad_input);
  EXPECT_EQ(store_->set_hash("ann", "x").error().code, Errc::bad_input);
}

TEST_P(KeysContract, NamesThoseThatThereAre) {
  EXPECT_NE(store_->revoke("ann").error().what.find("plimsoll keys add"), std::string::npos);
  ASSERT_TRUE(store_->add(sample_key("ann")));
  const auto unknown = store_->revoke("nobody");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Errc::not_found);
  EXPECT_NE(unknown.error().what.find("ann"), std::string::npos);
}

TEST_P(KeysContract, AddsUsageUp) {
  use({{10, "ann", "m", "", 0, 1}, {10, "ann", "m", "system", 7, 1}, {10, "ann", "m", "answer", 3, 1}});
  use({{10, "ann", "m", "", 0, 2}, {10, "ann", "m", "system", 20, 2}});
  use({{11, "ann", "other", "", 0, 1}, {11, "ann", "other", "system", 100, 1}});
  use({{11, "bob", "m", "", 0, 1}, {11, "bob", "m", "answer", 1'000, 1}});
  reopen();
  using By = UsageWish::By;
  EXPECT_EQ(sums({10, 10, "", By::owner}), (Lines{"ann/ 0 3", "ann/answer 3 1", "ann/system 27 3"}));
  EXPECT_EQ(sums({10, 11, "ann", By::model}),
            (Lines{"m/ 0 3", "m/answer 3 1", "m/system 27 3", "other/ 0 1", "other/system 100 1"}));
  EXPECT_EQ(sums({10, 11, "", By::section}), (Lines{"/ 0 5", "answer/answer 1003 2", "system/system 127 4"}));
  EXPECT_EQ(sums({11, 12, "", By::day}), (Lines{"11/ 0 2", "11/answer 1000 1", "11/system 100 1"}));
  EXPECT_TRUE(sums({12, 99, "", By::day}).empty());
  EXPECT_TRUE(sums({0, 99, "nobody", By::day}).empty());
}

TEST_P(KeysContract, AddsCostsUpToTheNanoDollar) {
  use({{10, "ann", "m", "", 0, 1, 1, 1}, {10, "ann", "m", "answer", 3, 1}});
  use({{10, "ann", "m", "", 0, 1, 2'500'000'000, 1}, {10, "ann", "other", "", 0, 4, 7, 2}});
  use({{11, "bob", "m", "", 0, 1, most_cost, 1}, {12, "bob", "m", "", 0, 1, INT64_MAX, 1}});
  use({{11, "bob", "m", "", 0, 1, -5, -1}});
  reopen();
  const auto ann = store_->usage({10, 10, "ann", UsageWish::By::day});
  ASSERT_TRUE(ann);
  ASSERT_EQ(ann->size(), 2U);
  EXPECT_EQ(ann->front().nano_usd, 2'500'000'008);
  EXPECT_EQ(ann->front().priced, 4);
  EXPECT_EQ(ann->front().requests, 6);
  EXPECT_EQ(ann->back().priced, 0);  // a section has no cost of its own
  const auto bob = store_->usage({10, 12, "bob", UsageWish::By::owner});
  ASSERT_TRUE(bob);
  EXPECT_EQ(bob->front().nano_usd, most_cost);
  EXPECT_EQ(bob->front().priced, 2);
}

TEST_P(KeysContract, CountsModelsTogetherThatAreTooManyToList) {
  std::vector<UsedTokens> used;
  for (int i = 0; i < 5'000; ++i) used.push_back({1, "ann", fmt::format("m{:05}", i), "answer", 1, 1});
  used.push_back({1, "bob", std::string(100'000, 'm'), "answer", 1, 1});
  use(used);
  use({{1, "ann", "m00000", "answer", 7, 1}});
  const auto sums = store_->usage({1, 1, "ann", UsageWish::By::model});
  ASSERT_TRUE(sums);
  EXPECT_LE(sums->size(), 1'000U);
  Tokens all = 0;
  for (const UsageSum& sum : *sums) {
    all += sum.tokens;
    EXPECT_TRUE(sum.group != "m00000" || sum.tokens == 8);
  }
  EXPECT_EQ(all, 5'007);
  EXPECT_LT(store_->usage({1, 1, "bob", UsageWish::By::model})->front().group.size(), 1'000U);
}

TEST_P(KeysContract, LosesNothingToThreadsThatWriteAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([this, t] {
      for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(store_->add(sample_key(fmt::format("{}-{}", t, i))));
        EXPECT_TRUE(traces_->keep({}, {}, std::vector<UsedTokens>{{1, "o", "m", "answer", 2, 1}}, {}));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store_->keys()->size(), 40U);
  EXPECT_EQ(sums({1, 1, "", UsageWish::By::owner}), Lines{"o/answer 80 40"});
}

}  // namespace plimsoll
