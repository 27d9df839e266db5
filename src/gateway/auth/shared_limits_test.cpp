// Gates of several gateways over limits that they share.
#include <atomic>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/sha256.hpp"
#include "gateway/auth/gate.hpp"

namespace plimsoll::gateway {
namespace {

using namespace std::chrono_literals;

// The same keys for all gates.
class SameKeys final : public KeyStore {
 public:
  Result<void> add(const ApiKey&) override { return {}; }
  Result<std::vector<ApiKey>> keys() override { return list; }
  Result<ApiKey> find(std::string_view) override { return fail(Errc::not_found, "none"); }
  Result<ApiKey> set_limits(std::string_view, const KeyLimits&) override { return list.front(); }
  Result<ApiKey> set_hash(std::string_view, std::string_view) override { return list.front(); }
  Result<ApiKey> revoke(std::string_view) override { return list.front(); }
  Result<std::vector<UsageSum>> usage(const UsageWish&) override { return std::vector<UsageSum>{}; }

  std::vector<ApiKey> list;
};

// Limits of a server that may be away.
class ServerLimits final : public LimitStore {
 public:
  Result<std::vector<LimitDone>> work(std::span<const LimitStep> steps) override {
    ++asked;
    if (away) return fail(Errc::unreachable, "the server is away");
    return limits_.work(steps);
  }
  LimitState state(const ApiKey& key) { return limits_.state(key.id, key.limits); }

  std::atomic<bool> away = false;
  std::atomic<int> asked = 0;

 private:
  MemoryLimits limits_{base::utc_ms};
};

class SharedLimits : public testing::Test {
 public:
  SharedLimits() { log::start_on(logged_, log::Level::error, log::Format::json); }
  ~SharedLimits() override { log::start(log::Level::info, log::Format::text); }

 protected:
  void key(KeyLimits limits) {
    ApiKey key;
    key.id = "key_ann";
    key.name = "ann";
    key.hash = base::sha256_hex("plk_ann");
    key.limits = limits;
    keys_.list = {key};
  }
  std::unique_ptr<Gate> gate(WithoutStore without_store = WithoutStore::refuse) {
    GateOptions options;
    options.alert = [this](const BudgetAlert&) { ++alerts_; };
    options.limits = server_;
    options.without_store = without_store;
    auto made = std::make_unique<Gate>(keys_, std::move(options));
    EXPECT_TRUE(made->refresh());
    return made;
  }
  static tl::expected<Pass, Refusal> admit(Gate& gate) {
    ClientRequest request;
    request.method = "POST";
    request.path = "/v1/chat/completions";
    request.key = base::Secret("plk_ann");
    return gate.admit(request, {.needs_key = true, .asks_model = true});
  }
  // As a route does it that reserves. None: the limits must be asked.
  static std::optional<engine::Caller> admit_at_once(Gate& gate) {
    ClientRequest request;
    request.key = base::Secret("plk_ann");
    const auto pass = gate.admit_at_once(request, {.asks_model = true, .reserves = true});
    if (!pass || !*pass) return std::nullopt;
    return (*pass)->caller;
  }
  // Waits until the server knows of so many used tokens and of no running request.
  bool is_settled(Tokens used) {
    for (int i = 0; i < 10'000; ++i) {
      const LimitState state = server_->state(keys_.list.front());
      if (state.used == used && state.reserved == 0) return true;
      std::this_thread::sleep_for(1ms);
    }
    return false;
  }

  const engine::Caller ann{.owner = "key_ann"};
  std::ostringstream logged_;
  std::atomic<int> alerts_ = 0;
  SameKeys keys_;
  std::shared_ptr<ServerLimits> server_ = std::make_shared<ServerLimits>();
};

TEST_F(SharedLimits, HoldForAllGatesTogether) {
  key({.requests_per_minute = 3});
  const auto one = gate(), other = gate();
  EXPECT_TRUE(admit(*one));
  EXPECT_TRUE(admit(*other));
  EXPECT_TRUE(admit(*one));
  const auto refused = admit(*other);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Refusal::Kind::limit);
  // What is full is not asked about again.
  const int asked = server_->asked;
  EXPECT_FALSE(admit(*other));
  EXPECT_EQ(server_->asked, asked);
}

TEST_F(SharedLimits, ABudgetIsReservedAndSettledOnce) {
  key({.tokens_per_day = 1'000});
  const auto one = gate(), other = gate();
  auto share = one->reserve(ann, {300, 400});
  ASSERT_TRUE(share);
  const auto refused = other->reserve(ann, {300, 100});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what.find("running requests need up to 700"), std::string::npos);
  share->held->settle(350);
  share->held.reset();
  EXPECT_TRUE(is_settled(350));
  EXPECT_TRUE(other->reserve(ann, {300, 100}));
  EXPECT_TRUE(is_settled(350));  // given back: nobody used it
}

TEST_F(SharedLimits, CountARequestTogetherWithItsReservation) {
  key({.requests_per_minute = 10, .tokens_per_day = 100'000});
  const auto one = gate();
  EXPECT_FALSE(admit_at_once(*one));  // nothing is known yet
  EXPECT_TRUE(admit(*one));
  const int asked = server_->asked;
  const auto caller = admit_at_once(*one);
  ASSERT_TRUE(caller);
  EXPECT_EQ(server_->asked, asked);
  EXPECT_TRUE(one->reserve(*caller, {300, 100}));
  EXPECT_EQ(server_->state(keys_.list.front()).requests_left, 8);
  EXPECT_TRUE(one->reserve(*caller, {300, 100}));  // another plan of the same request
  EXPECT_EQ(server_->state(keys_.list.front()).requests_left, 8);
}

TEST_F(SharedLimits, CountARequestThatReservesNothingAtItsEnd) {
  key({.requests_per_minute = 10, .tokens_per_day = 100'000});
  const auto one = gate();
  EXPECT_TRUE(admit(*one));
  { EXPECT_TRUE(admit_at_once(*one)); }
  const auto left = [&] { return server_->state(keys_.list.front()).requests_left; };
  for (int i = 0; i < 5'000 && left() > 8; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(left(), 8);
}

TEST_F(SharedLimits, AreAskedFirstOnceHalfOfThemIsTaken) {
  key({.requests_per_minute = 10, .tokens_per_day = 100'000});
  const auto one = gate();
  EXPECT_TRUE(admit(*one));
  std::vector<engine::Caller> running;
  while (auto caller = admit_at_once(*one)) running.push_back(*std::move(caller));
  EXPECT_EQ(running.size(), 4U);  // 9 are left at first
}

TEST_F(SharedLimits, AreAskedFirstOnceHalfOfTheDayIsReserved) {
  key({.requests_per_minute = 1'000, .tokens_per_day = 1'000});
  const auto one = gate();
  EXPECT_TRUE(admit(*one));
  EXPECT_TRUE(admit_at_once(*one));
  const auto share = one->reserve(ann, {500, 100});
  ASSERT_TRUE(share);
  EXPECT_FALSE(admit_at_once(*one));
}

TEST_F(SharedLimits, OneGateTellsOfABudgetThatIsNearlyUsedUp) {
  key({.tokens_per_day = 1'000});
  const auto one = gate(), other = gate();
  for (Gate* each : {one.get(), other.get(), one.get(), other.get()}) {
    auto share = each->reserve(ann, {225, 0});
    ASSERT_TRUE(share);
    const Tokens before = server_->state(keys_.list.front()).used;
    share->held->settle(225);
    share->held.reset();
    ASSERT_TRUE(is_settled(before + 225));
  }
  for (int i = 0; i < 5'000 && alerts_ == 0; ++i) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(alerts_, 1);
}

TEST_F(SharedLimits, WithoutTheServerRequestsAreRefusedAndToldWhen) {
  key({.requests_per_minute = 100, .tokens_per_day = 1'000});
  const auto one = gate();
  server_->away = true;
  const auto refused = admit(*one);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Refusal::Kind::unavailable);
  EXPECT_GT(refused.error().retry_after_seconds, 0);
  EXPECT_NE(refused.error().what.find("limits_without_store"), std::string::npos);
  EXPECT_FALSE(one->reserve(ann, {10, 10}));
  server_->away = false;
  EXPECT_TRUE(admit(*one));
}

TEST_F(SharedLimits, WithoutTheServerAGateCountsOnFromWhatItKnew) {
  key({.tokens_per_day = 1'000});
  const auto one = gate(WithoutStore::last_known);
  auto share = one->reserve(ann, {600, 0});
  ASSERT_TRUE(share);
  share->held->settle(600);
  share->held.reset();
  ASSERT_TRUE(is_settled(600));
  EXPECT_TRUE(one->reserve(ann, {10, 0}));
  ASSERT_TRUE(is_settled(600));
  server_->away = true;
  EXPECT_FALSE(one->reserve(ann, {500, 0}));
  share = one->reserve(ann, {300, 0});
  ASSERT_TRUE(share);
  EXPECT_FALSE(one->reserve(ann, {300, 0}));
  share->held->settle(250);
  share->held.reset();
  server_->away = false;
  EXPECT_TRUE(is_settled(850));  // charged once the server is back
}

}  // namespace
}  // namespace plimsoll::gateway
