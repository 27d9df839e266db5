#include "gateway/auth/gate.hpp"

#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "base/log.hpp"
#include "base/sha256.hpp"
#include "gateway/admin/alerts.hpp"

namespace plimsoll::gateway {
namespace {

constexpr std::int64_t day_ms = std::int64_t{24} * 3600 * 1000;
constexpr std::int64_t noon = 20'000 * day_ms + day_ms / 2;

// Keys in memory, and what they have used today.
class FakeKeys final : public KeyStore {
 public:
  Result<void> add(const ApiKey& key) override {
    list.push_back(key);
    return {};
  }
  Result<std::vector<ApiKey>> keys() override {
    if (broken) return fail(Errc::io_failed, "the disk is gone");
    return list;
  }
  Result<ApiKey> find(std::string_view) override { return fail(Errc::not_found, "none"); }
  Result<ApiKey> set_limits(std::string_view, const KeyLimits&) override { return list.front(); }
  Result<ApiKey> set_hash(std::string_view, std::string_view) override { return list.front(); }
  Result<ApiKey> revoke(std::string_view) override { return list.front(); }
  Result<std::vector<UsageSum>> usage(const UsageWish& wish) override {
    asked = wish;
    return used;
  }

  std::vector<ApiKey> list;
  std::vector<UsageSum> used;
  UsageWish asked;
  bool broken = false;
};

class GateTest : public testing::Test {
 public:
  GateTest() { log::start_on(logged_, log::Level::info, log::Format::json); }
  ~GateTest() override { log::start(log::Level::info, log::Format::text); }

 protected:
  const engine::Caller ann{.owner = "key_ann"};

  void make(const std::string& name, KeyLimits limits = {}, bool private_indexes = false) {
    ApiKey key;
    key.id = "key_" + name;
    key.name = name;
    key.hash = base::sha256_hex("plk_" + name);
    key.limits = limits;
    key.private_indexes = private_indexes;
    keys_.list.push_back(key);
    ASSERT_TRUE(gate_.refresh());
  }
  tl::expected<Pass, Refusal> admit(const std::string& name, const std::string& path = "/v1/chat/completions",
                                    std::size_t bytes = 0) {
    ClientRequest request;
    request.method = path == "/v1/models" ? "GET" : "POST";
    request.path = path;
    request.body = std::string(bytes, 'x');
    if (!name.empty()) request.key = base::Secret("plk_" + name);
    const bool is_public = path == "/health" || path == "/ready" || path == "/";
    return gate_.admit(request, {.needs_key = !is_public, .asks_model = path == "/v1/chat/completions"});
  }
  void ask(const std::string& name, Tokens tokens) {
    const auto pass = admit(name);
    ASSERT_TRUE(pass) << pass.error().what;
    gate_.charge("key_" + name, tokens);
  }

  std::ostringstream logged_;
  std::int64_t now_ = noon;
  std::vector<BudgetAlert> alerts_;
  FakeKeys keys_;
  Gate gate_{keys_,
             {[this] { return now_; }, [this](const BudgetAlert& alert) { alerts_.push_back(alert); }}};
};

TEST_F(GateTest, WithoutKeysEverybodyComesIn) {
  ASSERT_TRUE(gate_.refresh());
  for (const char* name : {"", "anything"}) {
    const auto pass = admit(name);
    ASSERT_TRUE(pass);
    EXPECT_EQ(pass->caller.owner, "local");
    EXPECT_EQ(pass->caller.indexes, "local");
    EXPECT_FALSE(pass->caller.metered);
  }
}

TEST_F(GateTest, WithOneEveryRouteButAFewNeedsIt) {
  make("ann");
  for (const char* path : {"/health", "/ready", "/"}) EXPECT_TRUE(admit("", path)) << path;
  for (const char* path : {"/v1/models", "/metrics", "/admin/models/refresh", "/nowhere", "/health/", "//"}) {
    const auto refused = admit("", path);
    ASSERT_FALSE(refused) << path;
    EXPECT_EQ(refused.error().kind, Refusal::Kind::no_key);
    EXPECT_EQ(refused.error().code, "invalid_api_key");
    EXPECT_FALSE(admit("bob", path));
  }
  EXPECT_EQ(gate_.counters().unknown, 12U);
  const auto pass = admit("ann");
  ASSERT_TRUE(pass);
  EXPECT_EQ(pass->caller.owner, "key_ann");
  EXPECT_EQ(pass->caller.indexes, "local");
  make("own", {}, true);
  EXPECT_EQ(admit("own")->caller.indexes, "key_own");
}

TEST_F(GateTest, ARevokedKeyIsRefusedAndKeepsTheGateShut) {
  make("ann");
  keys_.list.front().revoked = true;
  ASSERT_TRUE(gate_.refresh());
  EXPECT_EQ(admit("ann").error().kind, Refusal::Kind::no_key);
  EXPECT_EQ(admit("").error().kind, Refusal::Kind::no_key);
}

TEST_F(GateTest, KeepsWhatItKnowsWhenTheStoreIsGone) {
  make("ann");
  keys_.broken = true;
  EXPECT_FALSE(gate_.refresh());
  EXPECT_TRUE(admit("ann"));
  EXPECT_FALSE(admit("bob"));
}

TEST_F(GateTest, CountsRequestsOfAMinute) {
  make("ann", {.requests_per_minute = 3});
  make("bob");
  for (int left = 2; left >= 0; --left) {
    const auto pass = admit("ann", "/v1/models");
    ASSERT_TRUE(pass);
    const auto headers = gate_.limit_headers("key_ann");
    ASSERT_EQ(headers.size(), 2U);
    EXPECT_EQ(headers[0].value, "3");
    EXPECT_EQ(headers[1].value, std::to_string(left));
  }
  const auto refused = admit("ann", "/v1/models");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Refusal::Kind::limit);
  EXPECT_EQ(refused.error().code, "rate_limit_exceeded");
  EXPECT_EQ(refused.error().retry_after_seconds, 20);
  EXPECT_NE(refused.error().what.find("3 requests per minute"), std::string::npos);
  EXPECT_TRUE(admit("bob", "/v1/models"));  // another key
  now_ += 19'000;
  EXPECT_FALSE(admit("ann"));
  now_ += 1'000;
  EXPECT_TRUE(admit("ann"));
  EXPECT_FALSE(admit("ann"));
  EXPECT_EQ(gate_.counters().limited, 3U);
}

TEST_F(GateTest, CountsTokensOfAMinute) {
  make("ann", {.tokens_per_minute = 600});
  EXPECT_TRUE(admit("ann")->caller.metered);
  ask("ann", 600);
  const auto refused = admit("ann", "/v1/chat/completions", 400);  // about 100 tokens
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().retry_after_seconds, 10);
  EXPECT_NE(refused.error().what.find("600 tokens per minute"), std::string::npos);
  EXPECT_TRUE(admit("ann", "/v1/models"));  // asks no model
  EXPECT_TRUE(admit("ann", "/retrieve", 400));
  now_ += 10'000;
  EXPECT_TRUE(admit("ann", "/v1/chat/completions", 400));
}

TEST_F(GateTest, TakesWhatIsUnderWayIntoAccount) {
  make("ann", {.tokens_per_minute = 600});
  auto first = gate_.reserve(ann, {400, 100});
  ASSERT_TRUE(first);
  EXPECT_FALSE(admit("ann", "/v1/chat/completions", 2'000));  // about 500
  EXPECT_FALSE(gate_.reserve(ann, {400, 100}));
  gate_.charge("key_ann", 20);  // it was much less
  first->held.reset();
  EXPECT_TRUE(admit("ann", "/v1/chat/completions", 2'000));
  EXPECT_TRUE(gate_.reserve(ann, {400, 100}));
}

TEST_F(GateTest, OneThatIsLargerThanAMinuteWaitsForAWholeOneAndIsPaidFor) {
  make("ann", {.tokens_per_minute = 100});
  auto share = gate_.reserve(ann, {900, 100});
  ASSERT_TRUE(share);
  gate_.charge("key_ann", 1'000);
  share->held.reset();
  now_ += 9 * 60'000 - 1'000;
  EXPECT_FALSE(admit("ann", "/v1/chat/completions", 4));
  now_ += 2'000;
  EXPECT_TRUE(admit("ann", "/v1/chat/completions", 4));
}

TEST_F(GateTest, SetsNoMoreAsideThanTheDayHas) {
  make("ann", {.tokens_per_day = 5'000});
  std::vector<engine::Share> shares;
  for (int i = 0; i < 50; ++i)
    if (auto share = gate_.reserve(ann, {8, 1'000})) shares.push_back(*std::move(share));
  EXPECT_EQ(shares.size(), 4U);
  const auto refused = gate_.reserve(ann, {8, 1'000});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Refusal::Kind::limit);
  EXPECT_EQ(refused.error().retry_after_seconds, 1);
  EXPECT_NE(refused.error().what.find("running requests need up to 4,032"), std::string::npos)
      << refused.error().what;
  const auto never = gate_.reserve(ann, {8, 5'000});
  ASSERT_FALSE(never);
  EXPECT_EQ(never.error().code, "insufficient_quota");
  EXPECT_NE(never.error().what.find("needs up to 5,008"), std::string::npos) << never.error().what;
  shares.clear();
  EXPECT_TRUE(gate_.reserve(ann, {8, 1'000}));
}

TEST_F(GateTest, AnAnswerWithoutALimitGetsAPartOfWhatIsLeft) {
  make("ann", {.tokens_per_day = 5'000});
  std::vector<engine::Share> shares;
  Tokens sum = 0;
  while (auto share = gate_.reserve(ann, {8, 100'000, true})) {
    EXPECT_GT(share->answer, 0);
    sum += 8 + share->answer;
    shares.push_back(*std::move(share));
    ASSERT_LT(shares.size(), 50U);
  }
  EXPECT_EQ(shares.front().answer, 1'250);
  EXPECT_GT(shares.size(), 5U);
  EXPECT_LE(sum, 5'000);
  EXPECT_GT(sum, 4'980);
  shares.clear();
  EXPECT_EQ(gate_.reserve(ann, {8, 100, true})->answer, 100);
}

TEST_F(GateTest, AGateThatFollowsCountsOn) {
  make("ann", {.requests_per_minute = 2, .tokens_per_minute = 600, .tokens_per_day = 1'000});
  auto share = gate_.reserve(ann, {300, 100});
  ASSERT_TRUE(share);
  EXPECT_TRUE(admit("ann"));
  EXPECT_TRUE(admit("ann"));
  auto next = std::make_unique<Gate>(keys_, GateOptions{[this] { return now_; }, {}}, &gate_);
  ASSERT_TRUE(next->refresh());
  EXPECT_TRUE(next->refuses("key_ann"));  // a third request of this minute
  EXPECT_FALSE(next->reserve(ann, {300, 100}));
  gate_.charge("key_ann", 10);
  share->held.reset();  // reserved by the previous gate
  EXPECT_TRUE(next->reserve(ann, {300, 100}));
}

TEST_F(GateTest, KeepsTheBudgetOfADay) {
  make("ann", {.tokens_per_day = 1'000});
  ask("ann", 999);
  ask("ann", 50);
  const auto refused = admit("ann");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Refusal::Kind::limit);
  EXPECT_EQ(refused.error().code, "insufficient_quota");
  EXPECT_EQ(refused.error().retry_after_seconds, 12 * 3600);
  EXPECT_NE(refused.error().what.find("1,049 of its 1,000 tokens"), std::string::npos);
  EXPECT_TRUE(admit("ann", "/v1/models"));
  now_ += day_ms / 2;
  EXPECT_TRUE(admit("ann"));
}

TEST_F(GateTest, WaitsForWhatIsUnderWayBeforeTheBudgetIsOverdrawn) {
  make("ann", {.tokens_per_day = 1'000});
  auto first = gate_.reserve(ann, {900, 100});
  ASSERT_TRUE(first);
  const auto refused = admit("ann");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().retry_after_seconds, 1);
  gate_.charge("key_ann", 10);
  first->held.reset();
  EXPECT_TRUE(admit("ann"));
}

TEST_F(GateTest, LooksAtTheLimitsOfWhatIsAskedLater) {
  make("ann", {.requests_per_minute = 2, .tokens_per_day = 1'000});
  EXPECT_FALSE(gate_.refuses("key_ann"));
  EXPECT_TRUE(admit("ann"));
  const auto too_often = gate_.refuses("key_ann");
  ASSERT_TRUE(too_often);
  EXPECT_LE(too_often->retry_after_seconds, 60);
  now_ += 60'000;
  gate_.charge("key_ann", 1'000);
  const auto used_up = gate_.refuses("key_ann");
  ASSERT_TRUE(used_up);
  EXPECT_EQ(used_up->code, "insufficient_quota");
  keys_.list.front().revoked = true;
  ASSERT_TRUE(gate_.refresh());
  EXPECT_EQ(gate_.refuses("key_ann")->kind, Refusal::Kind::no_key);
  EXPECT_FALSE(gate_.refuses("somebody"));
}

TEST_F(GateTest, KnowsWhatWasUsedBeforeItStarted) {
  keys_.used = {{"key_ann", "", 0, 3}, {"key_ann", "system", 600, 3}, {"key_ann", "answer", 400, 3}};
  make("ann", {.tokens_per_day = 1'000});
  EXPECT_EQ(keys_.asked.first_day, 20'000);
  EXPECT_EQ(keys_.asked.last_day, 20'000);
  EXPECT_FALSE(admit("ann"));
  EXPECT_TRUE(alerts_.empty());  // the earlier process has sent it
}

TEST_F(GateTest, DoesNotCountWhatItKnowsTwice) {
  make("ann", {.tokens_per_day = 1'000});
  ask("ann", 500);
  keys_.used = {{"key_ann", "answer", 500, 1}};
  ASSERT_TRUE(gate_.refresh());
  ask("ann", 499);
  EXPECT_TRUE(admit("ann"));
}

TEST_F(GateTest, FollowsAChangeOfLimits) {
  make("ann", {.requests_per_minute = 1});
  EXPECT_TRUE(admit("ann"));
  EXPECT_FALSE(admit("ann"));
  keys_.list.front().limits = {};
  ASSERT_TRUE(gate_.refresh());
  EXPECT_TRUE(admit("ann"));
  EXPECT_TRUE(admit("ann"));
}

TEST_F(GateTest, TellsOnceAt80AndAt100PerCent) {
  make("ann", {.tokens_per_day = 1'000});
  ask("ann", 799);
  EXPECT_TRUE(alerts_.empty());
  ask("ann", 1);
  ask("ann", 100);
  ASSERT_EQ(alerts_.size(), 1U);
  EXPECT_EQ(alerts_[0].percent, 80);
  EXPECT_EQ(alerts_[0].used, 800);
  EXPECT_EQ(
      alert_json(alerts_[0]),
      R"({"event":"budget","key":"ann","percent":80,"used_tokens":800,"tokens_per_day":1000,"day":"2024-10-04"})");
  ask("ann", 500);
  ASSERT_TRUE(gate_.refresh());
  ASSERT_EQ(alerts_.size(), 2U);
  EXPECT_EQ(alerts_[1].percent, 100);
  EXPECT_EQ(gate_.counters().alerts, 2U);
  const std::string said = logged_.str();
  EXPECT_EQ(std::ranges::count(said, '\n'), 2);
  EXPECT_NE(said.find(R"("key":"ann","percent":100)"), std::string::npos);
  now_ += day_ms;
  ask("ann", 1'000);
  EXPECT_EQ(alerts_.size(), 4U);  // another day
}

TEST_F(GateTest, TellsAnewOfABudgetThatWasRaised) {
  make("ann", {.tokens_per_day = 1'000});
  ask("ann", 1'000);
  ASSERT_EQ(alerts_.size(), 2U);
  keys_.list.front().limits.tokens_per_day = 10'000;
  ASSERT_TRUE(gate_.refresh());
  ask("ann", 6'999);
  EXPECT_EQ(alerts_.size(), 2U);
  ask("ann", 1);
  ASSERT_EQ(alerts_.size(), 3U);
  EXPECT_EQ(alerts_.back().percent, 80);
  EXPECT_EQ(alerts_.back().budget, 10'000);
}

TEST_F(GateTest, AnHourOfCrowdsKeepsTheRate) {
  make("ann", {.requests_per_minute = 7});
  int served = 0;
  for (int ms = 0; ms < 3'600'000; ms += 137) {
    now_ = noon + ms;
    served += admit("ann", "/v1/models") ? 1 : 0;
  }
  EXPECT_GE(served, 60 * 7);
  EXPECT_LE(served, 60 * 7 + 7);
}

}  // namespace
}  // namespace plimsoll::gateway
