// The steps of an answer with servers that follow a script: what is sent, what the client gets, and why a
// request is planned again.
#include "engine/answer.hpp"

#include <sstream>

#include "base/log.hpp"
#include "engine/testing_engine.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

class AnswerTest : public testing::Test {
 protected:
  void SetUp() override { log::start_on(said_, log::Level::debug, log::Format::text); }
  void TearDown() override { log::start(log::Level::info, log::Format::text); }

  Result<void> ask(std::string body) {
    Ask ask;
    ask.body = std::move(body);
    client_.text.clear();
    return test_.ask(std::move(ask), client_);
  }
  Json answered() const { return Json::parse(client_.text, nullptr, false); }

  std::ostringstream said_;
  ScriptedServer first_, second_;
  TestEngine test_{{&first_, &second_}};
  TestClient client_;
};

TEST_F(AnswerTest, PassesBothWaysUntouchedWhatNeedsNoChange) {
  first_.script = {{200, completion()}};
  const std::string body = chat_body();
  ASSERT_TRUE(ask(body));
  EXPECT_EQ(first_.got, (std::vector<std::string>{body}));
  EXPECT_EQ(client_.status, 200);
  EXPECT_EQ(client_.text, completion());
}

// Collects what it is given; its spans are numbered.
class FakeCollector final : public SpanSink {
 public:
  TraceContext begin(const TraceContext& of_client) override {
    TraceContext own = of_client;
    if (!own.is_known()) own.trace_id = "ours";
    own.span_id = "span";
    own.flags = sampled ? 1 : 0;
    return own;
  }
  void add(const Trace& trace, const Plan& plan, RequestKind kind, bool with_words) override {
    traces.push_back(trace);
    sections = plan.sections.size();
    is_chat = kind == RequestKind::chat;
    has_words = with_words;
  }
  std::uint64_t sent() const override { return 0; }
  std::uint64_t dropped() const override { return 0; }

  bool sampled = true, is_chat = false, has_words = false;
  std::vector<Trace> traces;
  std::size_t sections = 0;
};

TEST_F(AnswerTest, TellsTheServerTheTraceOfTheClient) {
  first_.script = {{200, completion()}};
  Ask ask = ask_with(chat_body());
  ask.caller.context = {"trace", "client", 1, "a=1"};
  TestClient client;
  ASSERT_TRUE(test_.ask(std::move(ask), client));
  EXPECT_EQ(first_.last.context, (TraceContext{"trace", "client", 1, "a=1"}));
}

TEST_F(AnswerTest, GivesTheCollectorASpanForEachAttempt) {
  FakeCollector collector;
  test_.engine.spans = &collector;
  first_.script = {{503, "{}"}, {200, completion(12)}};
  Ask ask = ask_with(chat_body());
  ask.caller.context = {"trace", "client", 1, "a=1"};
  TestClient client;
  ASSERT_TRUE(test_.ask(std::move(ask), client));
  ASSERT_EQ(collector.traces.size(), 1U);
  const Trace& trace = collector.traces[0];
  EXPECT_EQ(trace.context.trace_id, "trace");
  EXPECT_EQ(trace.context.span_id, "span");
  EXPECT_EQ(trace.parent_span, "client");
  ASSERT_EQ(trace.attempts.size(), 2U);
  EXPECT_EQ(trace.attempts[1].span_id, first_.last.context.span_id) << "so the server's spans are below it";
  EXPECT_NE(trace.attempts[0].span_id, trace.attempts[1].span_id);
  EXPECT_GE(trace.attempts[1].began_us, trace.attempts[0].began_us);
  EXPECT_EQ(trace.attempts[1].provider, "vllm");
  EXPECT_EQ(trace.usage.input, 12);
  EXPECT_GT(collector.sections, 0U);
  EXPECT_TRUE(collector.is_chat);
  EXPECT_FALSE(collector.has_words);
  EXPECT_TRUE(trace.prompt.empty());
}

TEST_F(AnswerTest, GivesTheCollectorOnlyWhatIsSampled) {
  FakeCollector collector;
  collector.sampled = false;
  test_.engine.spans = &collector;
  first_.script = {{200, completion()}};
  TestClient client;
  ASSERT_TRUE(test_.ask(ask_with(chat_body()), client));
  EXPECT_TRUE(collector.traces.empty());
  EXPECT_EQ(first_.last.context.trace_id, "ours") << "the trace goes on without us";
}

TEST_F(AnswerTest, PassesAStreamOnAsItCame) {
  const std::string events =
      "data: {\"choices\":[{\"delta\":{\"content\":\"Ten.\"}}]}\n\n"
      "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
  first_.script = {{200, events, "text/event-stream"}};
  ASSERT_TRUE(ask(chat_body({{"stream", true}})));
  EXPECT_EQ(client_.text, events);
}

TEST_F(AnswerTest, PlansAgainForTheWindowThatAnOverflowNames) {
  first_.script = {{400, R"({"error":{"message":"This model's maximum context length is 1024 tokens."}})"},
                   {200, completion()}};
  ASSERT_TRUE(ask(chat_body({{"max_tokens", 4'000}})));
  ASSERT_EQ(first_.got.size(), 2U);
  EXPECT_EQ(Json::parse(first_.got[0])["max_tokens"], 4'000);
  EXPECT_LT(Json::parse(first_.got[1])["max_tokens"].get<int>(), 1'024);
  EXPECT_EQ(client_.status, 200);
  EXPECT_NE(said_.str().find("the server reported an overflow"), std::string::npos);
}

TEST_F(AnswerTest, SendsNoMoreThanThreeRequestsForOne) {
  first_.script = {{400, R"({"error":{"message":"This model's maximum context length is 4096 tokens."}})"},
                   {400, R"({"error":{"message":"This model's maximum context length is 2048 tokens."}})"},
                   {400, R"({"error":{"message":"This model's maximum context length is 1024 tokens."}})"}};
  ASSERT_TRUE(ask(chat_body({{"max_tokens", 4'000}})));
  EXPECT_LE(first_.got.size(), 3U);
  EXPECT_EQ(client_.status, 400);
}

TEST_F(AnswerTest, TellsTheLeastWindowWhereNothingFits) {
  first_.script = {{200, completion()}};
  const auto outcome = ask(chat_body(Json::object(), 9'000));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Errc::over_budget);
  EXPECT_NE(outcome.error().what.find("9,"), std::string::npos) << outcome.error().what;
  EXPECT_NE(outcome.error().what.find("8,192"), std::string::npos) << outcome.error().what;
  EXPECT_TRUE(first_.got.empty());
}

TEST_F(AnswerTest, AsksAnotherServerWhereOneIsDown) {
  first_.script = {{.unreachable = true}};
  second_.script = {{200, completion()}};
  ASSERT_TRUE(ask(chat_body({{"model", "a/gpt-4o"}, {"plimsoll", {{"fallback", {"b/gpt-4o"}}}}})));
  EXPECT_EQ(second_.got.size(), 1U);
  EXPECT_EQ(client_.status, 200);
  EXPECT_TRUE(client_.is_told);
  EXPECT_EQ(client_.fallback.to, "b/gpt-4o");
  EXPECT_NE(said_.str().find("the server is down"), std::string::npos);
}

TEST_F(AnswerTest, SaysWhyWhereNoServerAnswers) {
  first_.script = {{.unreachable = true}};
  const auto outcome = ask(chat_body({{"model", "a/gpt-4o"}}));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Errc::unreachable);
  EXPECT_EQ(first_.got.size(), 3U);  // tries
}

TEST_F(AnswerTest, TellsThatTheServerCutThePrompt) {
  first_.script = {{200, completion(5)}};
  ASSERT_TRUE(ask(chat_body(Json::object(), 400)));
  EXPECT_TRUE(client_.is_told);
  EXPECT_GT(client_.cut, 300) << client_.text;
}

TEST_F(AnswerTest, GivesTheServersErrorWithItsStatus) {
  first_.script = {{422, R"({"error":{"message":"temperature must be a number"}})"}};
  ASSERT_TRUE(ask(chat_body({{"temperature", "hot"}})));
  EXPECT_EQ(client_.status, 422);
  EXPECT_EQ(answered()["error"]["message"], "temperature must be a number");
}

TEST_F(AnswerTest, TakesHalfAnObjectForNoAnswer) {
  first_.script = {{200, R"({"choices":[{"message")"}};
  const auto outcome = ask(chat_body());
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Errc::upstream_failed);
}

TEST_F(AnswerTest, RefusesWhatIsNoRequestBeforeAnythingIsSent) {
  for (const char* body :
       {"", "[]", "{", R"({"model":"gpt-4o"})", R"({"model":7,"messages":[]})",
        R"({"model":"gpt-4o","stream":"yes","messages":[{"role":"user","content":"x"}]})"}) {
    const auto outcome = ask(body);
    ASSERT_FALSE(outcome) << body;
    EXPECT_EQ(outcome.error().code, Errc::bad_input) << body << ": " << outcome.error().what;
  }
  EXPECT_TRUE(first_.got.empty());
}

TEST_F(AnswerTest, ChecksTheAnswerAgainstItsPassages) {
  const Json given{
      {"check", true},
      {"passages",
       {{{"id", "hull"}, {"text", "The hull of the ship is 24 metres long. It was built in Bergen."}}}}};
  const std::string said = "The hull is 24 metres long. It was built in 1871.";
  const Json whole{{"choices", {{{"message", {{"content", said}}}, {"finish_reason", "stop"}}}}};
  first_.script = {{200, whole.dump()}};
  ASSERT_TRUE(ask(chat_body({{"plimsoll", given}})));
  ASSERT_TRUE(client_.is_told);
  EXPECT_EQ(client_.supported, 1U);
  EXPECT_EQ(client_.unsupported, 1U);
  const Json delta{{"choices", {{{"delta", {{"content", said}}}, {"finish_reason", "stop"}}}}};
  first_.script = {{200, "data: " + delta.dump() + "\n\ndata: [DONE]\n\n", "text/event-stream"}};
  client_.supported = client_.unsupported = 0;
  ASSERT_TRUE(ask(chat_body({{"stream", true}, {"plimsoll", given}})));
  EXPECT_EQ(client_.supported, 1U);
  EXPECT_EQ(client_.unsupported, 1U);
}

TEST_F(AnswerTest, ExplainsThePlanWhereThatIsWanted) {
  first_.script = {{200, completion()}};
  ASSERT_TRUE(ask(chat_body({{"plimsoll", {{"explain", true}}}})));
  EXPECT_TRUE(client_.is_told);
  EXPECT_TRUE(client_.explains);
  const Plan& plan = client_.plan;
  EXPECT_EQ(plan.window.tokens, 8'192);
  EXPECT_GT(plan.input, 0);
  EXPECT_LE(plan.input + plan.thinking + plan.answer + plan.margin, 8'192);
}

}  // namespace
}  // namespace plimsoll::engine
