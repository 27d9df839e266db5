// Sending: what goes to the server, and when it is asked again.
#include "engine/testing_engine.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

class Dispatch : public testing::Test {
 protected:
  Sent sent(Ask ask) {
    one_.emplace(test_, std::move(ask));
    one_->keep_plan();
    const Sendable sendable = one_->sendable();
    return test_.run(dispatch(test_.engine, test_.worker, sendable, TestEngine::soon()));
  }
  Sent sent(const std::string& body = chat_body()) { return sent(ask_with(body)); }

  ScriptedServer server_;
  TestEngine test_{{&server_}};
  std::optional<TestRequest> one_;
};

TEST_F(Dispatch, SendsTheClientsBytesAndTellsOfTheAttempt) {
  server_.script = {{200, completion()}};
  const Sent done = sent();
  ASSERT_TRUE(done.reply);
  EXPECT_EQ(server_.got, std::vector<std::string>{chat_body()});
  EXPECT_EQ(server_.last.model, "gpt-4o");
  EXPECT_EQ(server_.last.answer, 16);
  ASSERT_EQ(done.attempts.size(), 1U);
  EXPECT_EQ(done.attempts[0].outcome, "answered");
  EXPECT_EQ(done.attempts[0].code, ReplyCode{200});
  EXPECT_EQ(done.attempts[0].upstream, "a");
  EXPECT_EQ(done.attempts[0].window, 8'192);
  EXPECT_FALSE(done.left);
}

TEST_F(Dispatch, AsksAgainWhereTheServerIsOutOfService) {
  server_.script = {{503, "{}"}, {.unreachable = true}, {200, completion()}};
  const std::int64_t begin = test_.now_ms;
  const Sent done = sent();
  ASSERT_TRUE(done.reply);
  ASSERT_EQ(done.attempts.size(), 3U);
  EXPECT_EQ(done.attempts[0].outcome, "status 503");
  EXPECT_EQ(done.attempts[1].outcome, "connection refused");
  EXPECT_EQ(done.attempts[1].code, ReplyCode::none);
  EXPECT_EQ(test_.now_ms - begin, 100 + 400);  // it waits longer each time
  EXPECT_EQ(test_.engine.counters.retries, 2U);
}

TEST_F(Dispatch, GivesUpAfterThreeTries) {
  server_.script = {{.unreachable = true}};
  const Sent done = sent();
  ASSERT_FALSE(done.reply);
  EXPECT_EQ(done.reply.error().code, Errc::unreachable);
  EXPECT_EQ(done.attempts.size(), 3U);
}

TEST_F(Dispatch, DoesNotRepeatWhatTheServerRefusedOrFailedAt) {
  for (const int status : {400, 429, 500}) {
    server_.script = {{status, R"({"error":{"message":"no"}})"}};
    server_.got.clear();
    const Sent done = sent();
    ASSERT_TRUE(done.reply) << status;
    EXPECT_EQ(done.attempts.size(), 1U) << status;
  }
}

TEST_F(Dispatch, DoesNotContactAServerThatHasFailedRepeatedly) {
  server_.script = {{.unreachable = true}};
  for (int i = 0; i < 4; ++i) (void)sent();
  const std::size_t before = server_.got.size();
  const Sent done = sent();
  ASSERT_FALSE(done.reply);
  EXPECT_EQ(done.reply.error().code, Errc::unreachable);
  EXPECT_NE(done.reply.error().what.find("has failed repeatedly"), std::string::npos);
  EXPECT_TRUE(done.attempts.empty());
  EXPECT_EQ(server_.got.size(), before);
}

TEST_F(Dispatch, DoesNotBlameTheServerWhereThereIsNoMemoryForItsAnswer) {
  class NoMemory final : public UpstreamLink {
   public:
    Awaitable<Result<std::unique_ptr<UpstreamReply>>> send(UpstreamRequest request, Deadline) override {
      resources = request.resources;
      ++asked;
      co_return fail(Errc::over_budget, "there is no memory for the answer");
    }
    RequestResources* resources = nullptr;
    int asked = 0;
  } server;
  test_.links = {&server};
  for (int i = 0; i < 10; ++i) {
    const Sent done = sent();
    ASSERT_FALSE(done.reply);
    EXPECT_EQ(done.reply.error().code, Errc::unreachable);
    EXPECT_EQ(done.reply.error().what, "there is no memory for the answer");
  }
  EXPECT_EQ(server.asked, 10);  // once each: nothing is tried again, and nothing has failed
  EXPECT_EQ(server.resources, &test_.worker);
}

TEST_F(Dispatch, ReservesNoMoreForAnAnswerThanEveryModelCanWrite) {
  server_.script = {{200, completion()}};
  Json body = Json::parse(chat_body());
  body.erase("max_tokens");
  ASSERT_TRUE(sent(body.dump()).reply);
  EXPECT_GT(server_.last.answer, 0);
  EXPECT_LE(server_.last.answer, one_->planned.figures.answer);
}

TEST_F(Dispatch, SendsNativeBytesOnlyWhereNothingIsChangedOrTold) {
  server_.script = {{200, completion()}};
  const auto native_ask = [](const Json& more) {
    Ask ask = ask_with(chat_body(more));
    ask.native = NativeAsk{ServerKind::vllm, {"as it came", {}}};
    return ask;
  };
  const ServerKind kind = test_.upstreams.kind_of(0);
  Ask same = native_ask(Json::object());
  same.native->server = kind;
  ASSERT_TRUE(sent(std::move(same)).reply);
  ASSERT_TRUE(server_.last.native);
  EXPECT_EQ(server_.last.native->body, "as it came");
  EXPECT_EQ(server_.last.body, "");
  Ask told = native_ask({{"plimsoll", {{"explain", true}}}});
  told.native->server = kind;
  ASSERT_TRUE(sent(std::move(told)).reply);
  EXPECT_FALSE(server_.last.native);
  Ask other = native_ask(Json::object());
  other.native->server = ServerKind::anthropic;
  ASSERT_TRUE(sent(std::move(other)).reply);
  EXPECT_FALSE(server_.last.native);
}

}  // namespace
}  // namespace plimsoll::engine
