// The server's own rendering of a chat against our count (U2).
#include "engine/served_format.hpp"

#include "engine/testing_engine.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

// Shows what the test says it renders.
class Renderer final : public UpstreamLink {
 public:
  Awaitable<Result<std::unique_ptr<UpstreamReply>>> send(UpstreamRequest, Deadline) override {
    co_return ready_reply(200, completion());
  }
  Awaitable<Result<std::string>> rendered(UpstreamRequest request, Deadline) override {
    asked.push_back(request.body);
    if (text.empty()) co_return fail(Errc::unsupported, "it does not tell");
    co_return text;
  }
  std::string text;
  std::vector<std::string> asked;
};

class ServedFormat : public testing::Test {
 protected:
  Compared compared(TestRequest& one) {
    one.keep_plan();
    return test_.run(compare_rendering(test_.engine, test_.worker, one.received, one.request, one.attempt,
                                       one.planned, TestEngine::soon()));
  }
  Renderer server_;
  TestEngine test_{{&server_}, ServerKind::ollama};
};

TEST_F(ServedFormat, IsAskedOfOllamaAlone) {
  Renderer other;
  TestEngine openai{{&other}};
  TestRequest one(openai, chat_body());
  one.keep_plan();
  const Compared same = openai.run(compare_rendering(openai.engine, openai.worker, one.received, one.request,
                                                     one.attempt, one.planned, TestEngine::soon()));
  EXPECT_TRUE(other.asked.empty());
  EXPECT_EQ(same.planned.figures.input, one.planned.figures.input);
}

TEST_F(ServedFormat, AServerThatDoesNotTellLeavesTheCountCalibrated) {
  TestRequest one(test_, chat_body());
  const Compared done = compared(one);
  EXPECT_FALSE(done.again);
  EXPECT_NE(done.planned.figures.exactness, Exactness::exact);
  ASSERT_EQ(done.notes.warnings.size(), 1U);
  EXPECT_EQ(done.planned.figures.input, one.planned.figures.input);
}

TEST_F(ServedFormat, AnotherRenderingIsCounted) {
  server_.text = "A rendering of the server's own: How deep?";
  TestRequest one(test_, chat_body());
  const Compared done = compared(one);
  EXPECT_FALSE(done.again);
  EXPECT_NE(done.planned.figures.input, one.planned.figures.input);
  EXPECT_EQ(done.planned.plan.input, done.planned.figures.input);
  EXPECT_GT(server_.asked.size(), 1U);
  const std::size_t before = server_.asked.size();
  (void)compared(one);
  EXPECT_EQ(server_.asked.size(), before + 1);  // the format is known: only this chat is asked for
}

TEST_F(ServedFormat, ALongerRenderingIsPlannedAgainWithRoomForIt) {
  for (int i = 0; i < 20'000; ++i) server_.text += "long ";
  TestRequest one(test_, chat_body());
  const Compared done = compared(one);
  ASSERT_TRUE(done.again);
  EXPECT_EQ(done.again->why, Replan::Reason::server_renders_longer);
  EXPECT_GT(done.again->next.kept_free, 10'000);
  EXPECT_EQ(one.attempt.kept_free, 0);
}

}  // namespace
}  // namespace plimsoll::engine
