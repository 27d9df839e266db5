#include "memory/gather.hpp"

#include <random>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

namespace plimsoll::memory {
namespace {

using namespace std::chrono_literals;

// Ends all waiting when a test does.
struct Release {
  ~Release() { go = true; }
  std::atomic<bool> go = false;
};

class Provider final : public MemoryProvider {
 public:
  enum class Way { answers, fails, hangs, throws, floods };
  Provider(std::string name, Way way, std::shared_ptr<Release> release, std::chrono::milliseconds takes = 0ms)
      : name_(std::move(name)), way_(way), release_(std::move(release)), takes_(takes) {}

  std::string_view name() const override { return name_; }
  bool takes_limits() const override { return limits; }
  bool is_filtered() const override { return false; }
  Result<std::vector<RecalledFact>> recall(const RecallAsk& ask, Deadline) override {
    last_limit = ask.limit;
    last_trust = ask.min_trust;
    std::this_thread::sleep_for(takes_);
    const auto until = std::chrono::steady_clock::now() + 20s;
    if (way_ == Way::hangs)
      while (!release_->go && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
    if (way_ == Way::fails) return fail(Errc::upstream_failed, "it is broken");
    if (way_ == Way::throws) throw std::runtime_error("a bug");
    std::vector<RecalledFact> out;
    const int many = way_ == Way::floods ? 10'000 : 3;
    for (int i = 0; i < many; ++i) {
      RecalledFact one;
      one.fact.id = name_ + std::to_string(i);
      one.fact.text = way_ == Way::floods && i % 2 == 0 ? std::string(longest_fact_bytes + 1, 'x')
                                                        : "line\nof " + one.fact.id;
      out.push_back(std::move(one));
    }
    return out;
  }

  std::atomic<bool> limits = false;
  std::atomic<std::int64_t> last_limit = -1;
  std::atomic<double> last_trust = -1;

 private:
  std::string name_;
  Way way_;
  std::shared_ptr<Release> release_;
  std::chrono::milliseconds takes_;
};
using Way = Provider::Way;

RecallAsk question() {
  RecallAsk ask;
  ask.query = "q";
  ask.owner = "local";
  ask.limit = 4;
  ask.min_trust = 0.3;
  return ask;
}
constexpr ChooseRules rules{.limit = 4, .min_trust = 0.3, .only_related = false};

TEST(Gather, OneThatFailsHangsThrowsOrFloodsStopsNoOther) {
  const auto release = std::make_shared<Release>();
  const auto good = std::make_shared<Provider>("good", Way::answers, release);
  const auto mine = std::make_shared<Provider>("mine", Way::answers, release);
  mine->limits = true;
  std::vector<AskedProvider> all;
  for (const auto& [name, way] :
       {std::pair{"broken", Way::fails}, {"dead", Way::hangs}, {"bug", Way::throws}, {"flood", Way::floods}})
    all.emplace_back(std::make_shared<Provider>(name, way, release), way == Way::hangs ? 100ms : 5s);
  all.emplace_back(good, 5s);
  all.emplace_back(mine, 5s);
  const auto begun = std::chrono::steady_clock::now();
  const Gathered got = gather(all, question(), rules, Deadline::after(10s));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 4s);
  std::map<std::string, int> facts;
  for (const GatheredFact& one : got.facts) {
    ++facts[one.provider];
    EXPECT_EQ(one.recalled.fact.text, "line of " + one.recalled.fact.id);
  }
  EXPECT_EQ(facts, (std::map<std::string, int>{{"flood", 4}, {"good", 3}, {"mine", 3}}));
  ASSERT_EQ(got.problems.size(), 3U);
  EXPECT_EQ(got.problems[0], "the memory provider 'broken': it is broken");
  EXPECT_EQ(got.problems[1], "the memory provider 'dead' did not answer within 100 ms");
  EXPECT_EQ(got.problems[2], "the memory provider 'bug': a bug");
  EXPECT_EQ(good->last_limit, 0);  // it does not support limits
  EXPECT_EQ(good->last_trust, 0);
  EXPECT_EQ(mine->last_limit, 4);
  EXPECT_EQ(mine->last_trust, 0.3);
}

TEST(Gather, NeverEndsLaterThanTheLatestDeadline) {
  const auto release = std::make_shared<Release>();
  std::mt19937 random{7};
  for (int round = 0; round < 30; ++round) {
    std::vector<AskedProvider> all;
    std::chrono::milliseconds latest = 0ms;
    bool hangs = false;
    for (int i = 0; i < 4; ++i) {
      const auto patience = std::chrono::milliseconds(std::uniform_int_distribution<>(1, 60)(random));
      const auto way = std::bernoulli_distribution(0.4)(random) ? Way::hangs : Way::answers;
      const auto takes = std::chrono::milliseconds(std::uniform_int_distribution<>(0, 80)(random));
      latest = std::max(latest, patience);
      hangs = hangs || way == Way::hangs;
      all.emplace_back(std::make_shared<Provider>("p" + std::to_string(i), way, release, takes), patience);
    }
    const auto all_of_it = std::chrono::milliseconds(std::uniform_int_distribution<>(1, 60)(random));
    const auto begun = std::chrono::steady_clock::now();
    const Gathered got = gather(all, question(), rules, Deadline::after(all_of_it));
    const auto took = std::chrono::steady_clock::now() - begun;
    EXPECT_LT(took, std::min(latest, all_of_it) + 1'500ms);  // a busy machine wakes late
    if (hangs) {
      EXPECT_FALSE(got.problems.empty());
    }
  }
}

TEST(Gather, OneThatHangsCollectsNoThreads) {
  const auto release = std::make_shared<Release>();
  const std::vector<AskedProvider> all{
      AskedProvider(std::make_shared<Provider>("dead", Way::hangs, release), 1ms)};
  for (int i = 0; i < most_unanswered; ++i) (void)gather(all, question(), rules, Deadline::after(1s));
  EXPECT_EQ(*all[0].unanswered, most_unanswered);
  const Gathered got = gather(all, question(), rules, Deadline::after(1s));
  EXPECT_EQ(*all[0].unanswered, most_unanswered);
  ASSERT_EQ(got.problems.size(), 1U);
  EXPECT_NE(got.problems[0].find("not asked"), std::string::npos);
  release->go = true;
  for (int i = 0; i < 2'000 && *all[0].unanswered > 0; ++i) std::this_thread::sleep_for(5ms);
  EXPECT_EQ(*all[0].unanswered, 0);
}

}  // namespace
}  // namespace plimsoll::memory
