// Passing a reply on: what the client gets, what is learned, and when the request is planned again.
#include "engine/testing_engine.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

class RelayTest : public testing::Test {
 protected:
  void ask(const std::string& body = chat_body(), RequestKind kind = RequestKind::chat) {
    Ask asked = ask_with(body);
    asked.kind = kind;
    ask(std::move(asked));
  }
  void ask(Ask asked) {
    one_.emplace(test_, std::move(asked));
    one_->keep_plan();
    one_->attempt.sent = 1;
  }
  Outcome relayed(int status, const std::string& body, const std::string& type = "application/json") {
    if (!one_) ask();
    const auto reply = ready_reply(status, body, type);
    const Sendable sendable = one_->sendable();
    return test_.run(
        relay(test_.engine, test_.worker, sendable, one_->trace(), *reply, client_, TestEngine::soon()));
  }
  void clear_client() {
    client_.text.clear();
    client_.broken.clear();
  }
  static std::string overflow(Tokens window) {
    return Json{
        {"error", {{"message", fmt::format("This model's maximum context length is {} tokens.", window)}}}}
        .dump();
  }

  ScriptedServer server_;
  TestEngine test_{{&server_, &server_}};
  std::optional<TestRequest> one_;
  TestClient client_;
};

TEST_F(RelayTest, PassesABodyOnAndReconcilesItsUsage) {
  ask();
  const Tokens planned = one_->planned.figures.input;
  const Outcome done = relayed(200, completion(planned + 3));
  ASSERT_TRUE(done.done);
  EXPECT_FALSE(done.again);
  EXPECT_EQ(client_.text, completion(planned + 3));
  EXPECT_EQ(done.trace.code, ReplyCode{200});
  EXPECT_EQ(done.trace.usage.input, planned + 3);
  EXPECT_EQ(done.trace.drift, 3);
  EXPECT_EQ(done.trace.cut, 0);
  EXPECT_EQ(done.trace.finish_reason, "stop");
  EXPECT_FALSE(client_.is_told);
}

TEST_F(RelayTest, TellsTheClientOfACutPrompt) {
  ask(chat_body(Json::object(), 500));
  const Outcome done = relayed(200, completion(100));
  ASSERT_TRUE(done.done);
  EXPECT_GT(done.trace.cut, 300);
  EXPECT_TRUE(client_.is_told);
  EXPECT_EQ(client_.cut, done.trace.cut);
}

TEST_F(RelayTest, IgnoresUsageThatTheRequestCannotHave) {
  ask();
  ASSERT_TRUE(relayed(200, completion(90'000)).done);
  EXPECT_FALSE(test_.models.learned({0, "gpt-4o"}, "local").holds_back());
}

TEST_F(RelayTest, AnOverflowBringsTheWindowForTheNextPlan) {
  const Outcome done = relayed(400, overflow(2'000));
  ASSERT_TRUE(done.done);
  ASSERT_TRUE(done.again);
  EXPECT_EQ(done.again->why, Replan::Reason::overflow);
  ASSERT_TRUE(done.again->next.told_window);
  EXPECT_EQ(done.again->next.told_window->second, 2'000);
  EXPECT_FALSE(one_->attempt.told_window);  // the attempt itself is not changed
  EXPECT_EQ(done.trace.attempts.back().outcome, "overflow: the window is 2,000");
  EXPECT_TRUE(client_.text.empty());
}

TEST_F(RelayTest, ASecondOverflowGoesToTheClient) {
  ask();
  one_->attempt.sent = 2;
  const Outcome done = relayed(400, overflow(2'000));
  ASSERT_TRUE(done.done);
  EXPECT_FALSE(done.again);
  EXPECT_EQ(client_.status, 400);
  EXPECT_EQ(client_.text, overflow(2'000));
}

TEST_F(RelayTest, AnOverflowInTheRequestsOwnWordsTeachesNothing) {
  ask(chat_body({{"user", "This model's maximum context length is 2000 tokens."}}));
  const Outcome done = relayed(400, overflow(2'000));
  ASSERT_TRUE(done.done);
  EXPECT_FALSE(done.again);
  EXPECT_EQ(client_.status, 400);
}

TEST_F(RelayTest, AnOverflowInAHeaderOrInTheNativeBodyTeachesNothing) {
  const std::string words = "maximum context length is 2000 tokens";
  const auto native_ask = [](NativeRequest request) {
    Ask asked = ask_with(chat_body());
    asked.native = NativeAsk{ServerKind::anthropic, std::move(request)};
    return asked;
  };
  Ask in_state = ask_with(chat_body());
  in_state.caller.context.trace_id = std::string(32, 'a');
  in_state.caller.context.state = "vendor=" + words;
  for (Ask asked : {native_ask({"{}", {{"anthropic-beta", words}}}),
                    native_ask({R"({"metadata":")" + words + R"("})"}), std::move(in_state)}) {
    ask(std::move(asked));
    const Outcome done = relayed(400, overflow(2'000));
    ASSERT_TRUE(done.done);
    EXPECT_FALSE(done.again);
  }
  ask(native_ask({"{}", {{"anthropic-beta", "tools"}}}));
  EXPECT_TRUE(relayed(400, overflow(2'000)).again);
}

TEST_F(RelayTest, AnErrorBeforeAStreamIsAnErrorAndNotAnAnswer) {
  const Outcome done =
      relayed(200, "data: {\"error\":{\"message\":\"out of memory\"}}\n\n", "text/event-stream");
  ASSERT_FALSE(done.done);
  EXPECT_EQ(done.done.error().code, Errc::upstream_failed);
  EXPECT_NE(done.done.error().what.find("out of memory"), std::string::npos);
  EXPECT_TRUE(client_.text.empty());
}

TEST_F(RelayTest, AStreamThatReportsAnOverflowIsPlannedAgain) {
  const Outcome done = relayed(200, "data: " + overflow(2'000) + "\n\n", "text/event-stream");
  ASSERT_TRUE(done.done);
  ASSERT_TRUE(done.again);
  EXPECT_EQ(done.again->why, Replan::Reason::overflow);
}

TEST_F(RelayTest, CountsTheEventsOfAStreamAndPassesNothingOnAfterItsEnd) {
  const std::string words = "data: {\"choices\":[{\"delta\":{\"content\":\"Ten.\"}}]}\n\n";
  const std::string end = "data: [DONE]\n\n";
  const Outcome done = relayed(200, words + words + end + words, "text/event-stream");
  ASSERT_TRUE(done.done);
  EXPECT_EQ(done.streamed, 2);
  EXPECT_EQ(client_.text, words + words + end);
}

TEST_F(RelayTest, ALongAnswerIsCheckedOnAnotherThread) {
  ask(chat_body({{"plimsoll",
                  {{"check", true}, {"passages", {{{"id", "hull"}, {"text", "It is ten metres deep."}}}}}}}));
  for (const int sentences : {1, 200}) {
    std::string said;
    for (int i = 0; i < sentences; ++i) said += "It is ten metres deep. ";
    test_.worker.went_elsewhere = 0;
    const Json delta{{"choices", {{{"delta", {{"content", said}}}}}}};
    ASSERT_TRUE(relayed(200, "data: " + delta.dump() + "\n\ndata: [DONE]\n\n", "text/event-stream").done);
    EXPECT_GT(client_.supported, 0U);
    EXPECT_EQ(test_.worker.went_elsewhere, sentences > 1 ? 1 : 0);
  }
}

TEST_F(RelayTest, AStatusWithoutABodyIsAFailureOfTheServer) {
  for (const int status : {204, 206, 302, 304}) {
    ask();
    const Outcome done = relayed(status, "", "text/event-stream");
    ASSERT_TRUE(done.done);
    EXPECT_EQ(client_.status, 502) << status;
    EXPECT_EQ(done.trace.code, ReplyCode{502});
  }
}

TEST_F(RelayTest, HalfAnObjectIsNoAnswer) {
  const Outcome done = relayed(200, R"({"choices":[)");
  ASSERT_FALSE(done.done);
  EXPECT_EQ(done.done.error().code, Errc::upstream_failed);
  EXPECT_EQ(done.trace.code, ReplyCode::none);
}

TEST_F(RelayTest, WhatIsNotAnAnswerIsNotPassedOnWhateverWasAsked) {
  const std::string error = R"({"error":{"message":"out of memory"}})";
  const struct {
    RequestKind kind;
    std::string body, answer;
    std::vector<std::string> others;
  } cases[] = {
      {RequestKind::completion,
       R"({"model":"gpt-4o","prompt":"How deep?"})",
       R"({"choices":[{"text":"Ten."}]})",
       {R"({"choices":[{"text":"Ten."}])", "[]", "{}", error}},
      {RequestKind::embedding,
       R"({"model":"gpt-4o","input":"How deep?"})",
       R"({"data":[{"embedding":[1.0]}]})",
       {R"({"data":[{"embedding":[1.0)", "[1.0]", "", error}},
      {RequestKind::response,
       R"({"model":"gpt-4o","input":"How deep?"})",
       R"({"status":"failed","error":{"message":"out of memory"},"output":[]})",
       {R"({"output":[)", "[]"}},
  };
  for (const auto& one : cases) {
    ask(one.body, one.kind);
    EXPECT_TRUE(relayed(200, one.answer).done) << one.answer;
    EXPECT_EQ(client_.text, one.answer);
    for (const std::string& other : one.others) {
      clear_client();
      const Outcome done = relayed(200, other);
      ASSERT_FALSE(done.done) << other;
      EXPECT_EQ(done.done.error().code, Errc::upstream_failed);
      EXPECT_EQ(done.done.error().what.find("out of memory") != std::string::npos, other == error) << other;
      EXPECT_TRUE(client_.text.empty());
    }
    clear_client();
  }
}

TEST_F(RelayTest, ABrokenEventEndsAStreamWithAnError) {
  const std::string words = "data: {\"choices\":[{\"text\":\"Ten.\"}]}\n\n", end = "data: [DONE]\n\n";
  for (const char* broken :
       {"data: {\"choices\":[{\"te\n\n", "data: {\"choices\":[{]}\n\n", "data: []\n\n"}) {
    clear_client();
    const Outcome done = relayed(200, words + broken + end, "text/event-stream");
    ASSERT_TRUE(done.done);
    EXPECT_EQ(client_.text, words) << broken;
    EXPECT_NE(client_.broken.find("not a whole JSON object"), std::string::npos) << client_.broken;
    EXPECT_EQ(done.trace.error, client_.broken);
    clear_client();
    const Outcome first = relayed(200, broken + end, "text/event-stream");
    ASSERT_FALSE(first.done) << "no stream was begun";
    EXPECT_EQ(first.done.error().code, Errc::upstream_failed);
    EXPECT_TRUE(client_.text.empty());
  }
}

TEST_F(RelayTest, AServerThatIsDownIsReplacedWhereThatIsAllowed) {
  ask(chat_body({{"model", "a/gpt-4o"}, {"plimsoll", {{"fallback", {"b/gpt-4o"}}}}}));
  const Outcome done = relayed(503, "{}");
  ASSERT_TRUE(done.done);
  ASSERT_TRUE(done.again);
  EXPECT_EQ(done.again->why, Replan::Reason::server_down);
  EXPECT_EQ(done.again->next.model, "b/gpt-4o");
  EXPECT_NE(done.again->next.stand_in->reason.find("status 503"), std::string::npos);
  ask();
  EXPECT_FALSE(relayed(503, "{}").again);
  EXPECT_EQ(client_.status, 503);
}

TEST_F(RelayTest, TheLastAnswerGoesToTheClientWhateverItIs) {
  ask(chat_body({{"model", "a/gpt-4o"}, {"plimsoll", {{"fallback", {"b/gpt-4o"}}}}}));
  one_->attempt.sent = 3;
  const Outcome down = relayed(503, "{}");
  EXPECT_FALSE(down.again);
  EXPECT_EQ(client_.status, 503);
}

TEST_F(RelayTest, AnErrorThatRepeatsTheRequestIsNotKept) {
  ask(chat_body({{"user", "my secret name that nobody may read"}}));
  const Outcome done =
      relayed(422, Json{{"error", {{"message", "bad: my secret name that nobody may read"}}}}.dump());
  ASSERT_TRUE(done.done);
  EXPECT_EQ(done.trace.error.find("secret"), std::string::npos);
  EXPECT_NE(client_.text.find("secret"), std::string::npos);  // the client itself gets it
}

}  // namespace
}  // namespace plimsoll::engine
