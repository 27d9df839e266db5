// Memories for a request: which are added, and why some are not.
#include "engine/evidence/recall.hpp"

#include "engine/testing_engine.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

// Gives the facts of the test.
class Facts final : public MemoryProvider {
 public:
  explicit Facts(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  bool takes_limits() const override { return true; }
  bool is_filtered() const override { return false; }
  Result<std::vector<RecalledFact>> recall(const RecallAsk& ask, Deadline) override {
    asked = ask;
    if (fails) return fail(Errc::upstream_failed, "it is broken");
    return facts;
  }

  std::vector<RecalledFact> facts;
  std::optional<RecallAsk> asked;
  bool fails = false;

 private:
  std::string name_;
};

RecalledFact fact(std::string id, std::string text, std::int64_t created_ms) {
  RecalledFact one;
  one.fact.id = std::move(id);
  one.fact.text = std::move(text);
  one.fact.created_ms = one.fact.updated_ms = created_ms;
  one.fact.importance = 0.8;
  one.fact.trust = 0.9;
  one.score = 0.6;
  return one;
}

class RecallTest : public testing::Test {
 protected:
  void SetUp() override {
    own_->facts = {fact("mem_2", "The ship has two anchors.", 2'000),
                   fact("mem_1", "The ship is called Bergen.", 1'000)};
    const std::chrono::milliseconds patience(5'000);
    recall_.providers.emplace_back(own_, patience);
    recall_.providers.emplace_back(other_, patience);
    recall_.always = true;
    test_.engine.recall = &recall_;
  }
  Request gathered(const TestRequest& one) {
    auto request = gather_additions(test_.engine, one.received, one.request, one.attempt, TestEngine::soon());
    EXPECT_TRUE(request) << request.error().what;
    return *std::move(request);
  }

  std::shared_ptr<Facts> own_ = std::make_shared<Facts>(""), other_ = std::make_shared<Facts>("wiki");
  Recall recall_;
  ScriptedServer server_;
  TestEngine test_{{&server_}};
};

TEST_F(RecallTest, FactsAreAddedByTimeWithTheirWeight) {
  TestRequest one(test_, chat_body({{"plimsoll", {{"session", "s"}}}}));
  const Request request = gathered(one);
  const chat::Additions& added = request.chat.additions;
  ASSERT_EQ(added.facts.size(), 2U);
  EXPECT_EQ(added.facts[0].id, "mem_1");
  EXPECT_EQ(added.facts[1].text, "The ship has two anchors.");
  EXPECT_NEAR(added.importance[0], 0.7, 1e-9);
  EXPECT_EQ(own_->asked->session, "s");
  EXPECT_EQ(own_->asked->query.substr(0, 9), "How deep?");
  EXPECT_TRUE(one.request.chat.additions.facts.empty());  // of the value before it
  one.request = request;
  const auto step = one.plan();
  ASSERT_TRUE(step);
  EXPECT_EQ(step->planned.plan.memory_count, 2);
  EXPECT_NE(step->planned.body.find("The ship is called Bergen."), std::string::npos);
}

TEST_F(RecallTest, AProviderThatFailsIsAWarning) {
  other_->fails = true;
  const Request request = gathered(TestRequest(test_, chat_body()));
  EXPECT_EQ(request.chat.additions.facts.size(), 2U);
  ASSERT_EQ(request.notes.warnings.size(), 1U);
  EXPECT_NE(request.notes.warnings[0].find("it is broken"), std::string::npos);
}

TEST_F(RecallTest, AFullWindowGetsNoneAndSaysWhy) {
  const TestRequest one(test_, chat_body(Json::object(), 7'900));
  const Request request = gathered(one);
  EXPECT_FALSE(own_->asked);
  EXPECT_TRUE(request.chat.additions.facts.empty());
  ASSERT_TRUE(request.recalled);
  EXPECT_FALSE(request.recalled->why_none.empty());
  Plan plan;
  list_left_memories(plan, request.recalled);
  ASSERT_EQ(plan.pieces.size(), 1U);
  EXPECT_EQ(plan.pieces[0].id, "memories");
  EXPECT_EQ(plan.pieces[0].reason, request.recalled->why_none);
}

TEST_F(RecallTest, OnlyOurOwnFactsAreNamedForDeletion) {
  other_->facts = {fact("w", "Bergen is a town.", 3'000)};
  const Request request = gathered(TestRequest(test_, chat_body()));
  EXPECT_EQ(request.chat.additions.facts.size(), 3U);
  EXPECT_EQ(own_facts(request.recalled), (std::vector<std::string>{"mem_1", "mem_2"}));
  EXPECT_TRUE(own_facts(std::nullopt).empty());
}

TEST_F(RecallTest, ARequestMayRefuseThem) {
  const TestRequest one(test_, chat_body({{"plimsoll", {{"memory", false}}}}));
  EXPECT_FALSE(wants_memories(test_.engine, one.received, one.request));
  recall_.always = false;
  EXPECT_FALSE(wants_memories(test_.engine, one.received, TestRequest(test_, chat_body()).request));
  const TestRequest wants(test_, chat_body({{"plimsoll", {{"memory", true}}}}));
  EXPECT_TRUE(wants_memories(test_.engine, wants.received, wants.request));
}

}  // namespace
}  // namespace plimsoll::engine
