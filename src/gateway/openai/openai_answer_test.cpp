#include "gateway/openai/openai_answer.hpp"

#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "base/chat_reply.hpp"
#include "base/testing_streams.hpp"
#include "gateway/http/held_reply.hpp"

namespace plimsoll::gateway {
namespace {

std::string event(std::string_view data) {
  return "data: " + std::string(data) + "\n\n";
}
const std::string words =
    event(R"({"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"}}]})");
const std::string finish =
    event(R"({"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})");
const std::string usage = event(R"({"choices":[],"usage":{"prompt_tokens":21,"completion_tokens":4}})");
const std::string done = event("[DONE]");
constexpr std::string_view fields = R"("plimsoll":{"trace":"t"})";

std::string with_report(const std::string& chunk) {
  return chunk.substr(0, chunk.rfind('}')) + "," + std::string(fields) + "}\n\n";
}

// The stream in pieces of random sizes.
std::string reported(ReportedStream stream, std::string_view text, std::string_view told,
                     std::string_view mark, std::mt19937& random) {
  base::EventSplitter splitter;
  std::string out;
  while (!text.empty()) {
    const std::size_t size = 1 + random() % 40;
    out += stream.pass(splitter.add(text.substr(0, size)));
    text.remove_prefix(std::min(size, text.size()));
  }
  out += stream.pass(splitter.rest());
  return out + stream.end(told, mark);
}

TEST(ReportedStream, PassesOnWhatIsNotToBeChangedByteForByte) {
  const std::string stream = ": comment\n\n" + words + "event: note\r\ndata: {}\r\n\r\n" + finish + usage;
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round)
    EXPECT_EQ(reported({false, false}, stream, {}, done, random), stream + done);
}

TEST(ReportedStream, HidesUsageThatTheClientDidNotAskFor) {
  std::mt19937 random(5);
  for (int round = 0; round < 100; ++round)
    EXPECT_EQ(reported({false, true}, words + finish + usage, {}, done, random), words + finish + done);
}

TEST(ReportedStream, AddsTheReportToTheLastChunkOnce) {
  std::mt19937 random(9);
  for (int round = 0; round < 100; ++round) {
    EXPECT_EQ(reported({true, false}, words + finish + usage, fields, done, random),
              words + finish + with_report(usage) + done);
    EXPECT_EQ(reported({true, true}, words + finish + usage, fields, done, random),
              words + with_report(finish) + done);
    EXPECT_EQ(reported({true, false}, words + finish, fields, {}, random), words + with_report(finish));
  }
}

TEST(ReportedStream, AddsAChunkWhereTheReportComesUnannounced) {
  const std::string told =
      event(R"({"object":"chat.completion.chunk","choices":[],"plimsoll":{"trace":"t"}})");
  std::mt19937 random(11);
  for (int round = 0; round < 100; ++round)
    EXPECT_EQ(reported({false, false}, words + finish + usage, fields, done, random),
              words + finish + usage + told + done);
}

// Counts the work for other threads, and does it here.
class CountingThread final : public engine::WorkerContext {
 public:
  UpstreamLink& link(std::size_t /*member*/) override { std::abort(); }
  Awaitable<void> pause(std::chrono::milliseconds /*time*/) override { co_return; }
  Awaitable<void> elsewhere(std::function<void()> work) override {
    ++works;
    work();
    co_return;
  }
  int works = 0;
};

TEST(OpenAiAnswer, WritesALongReportOnAWorker) {
  const Trace trace;
  const ReplyInfo from;
  const engine::AnswerStart start{.trace = trace, .from = from};
  const ReplyBody body{.text = R"({"choices":[]})"};
  for (const std::size_t pieces : {1U, 1'000U}) {
    Plan plan;
    plan.pieces.resize(pieces);
    const engine::AnswerReport report{.trace = trace, .plan = plan, .explain = true};
    const engine::AnswerEnd end{.report = &report, .mark = done};
    const ReplyBody error{.text = "{\"error\":\"" + std::string(pieces * 100, 'x') + "\"}"};
    CountingThread thread;
    HeldReply reply;
    OpenAiAnswer answer(thread, reply);
    EXPECT_TRUE(base::wait_for(answer.whole(start, body, &report)));
    EXPECT_TRUE(base::wait_for(answer.end(end)));
    EXPECT_TRUE(base::wait_for(answer.refused(start, error)));
    EXPECT_EQ(thread.works, pieces == 1 ? 0 : 3);
    EXPECT_NE(reply.text.find("\"plan\""), std::string::npos);
  }
}

TEST(WithFields, GoBeforeTheLastBraceAndNowhereElse) {
  EXPECT_EQ(with_fields(R"({"a":{}})", R"("b":1)"), R"({"a":{},"b":1})");
  EXPECT_EQ(with_fields("{ }\n", R"("b":1)"), "{ \"b\":1}\n");
  EXPECT_EQ(with_fields("no object", R"("b":1)"), "no object");
  EXPECT_EQ(with_fields(R"({"a":1})", ""), R"({"a":1})");
}

TEST(WithDetail, RepeatsTheMessageOfAnErrorOnce) {
  EXPECT_EQ(with_detail(R"({"error":{"message":"x"}})", "x"), R"({"error":{"message":"x"},"detail":"x"})");
  EXPECT_EQ(with_detail(R"({"detail":"y"})", "y"), R"({"detail":"y"})");
  EXPECT_EQ(with_detail("<html>", "<html>"), "<html>");
}

}  // namespace
}  // namespace plimsoll::gateway
