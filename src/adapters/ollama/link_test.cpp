#include "adapters/ollama/link.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/testing_streams.hpp"
#include "contract/upstream/upstream_contract.hpp"

namespace plimsoll::ollama {
namespace {

using Json = nlohmann::json;
using base::FakeStreams;
using base::soon;
using base::wait_for;

UpstreamRequest chat(bool stream) {
  UpstreamRequest request;
  request.model = "m";
  request.body = R"({"messages":[{"role":"user","content":"hi"}],"n":2})";
  request.stream = stream;
  request.refuse_inexpressible = false;
  return request;
}

constexpr const char* first_line = R"({"message":{"content":"a"},"done":false})";
constexpr const char* second_line = R"({"message":{"content":"b"},"done":false})";
constexpr const char* last_line =
    R"({"message":{"content":""},"done":true,"prompt_eval_count":1,"eval_count":2})";

TEST(OllamaLink, HandsOutTogetherWhatArrivedTogether) {
  FakeStreams streams({200, {}}, {std::string(first_line) + "\n" + second_line + "\n{\"mess",
                                  std::string(last_line).substr(6) + "\n"});
  const auto link = make_ollama(streams, {"http://host:11434/v1/", {}});
  auto reply = wait_for(link->send(chat(true), soon()));
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_EQ(streams.asked.url, "http://host:11434/api/chat");
  EXPECT_EQ(Json::parse(streams.asked.body)["stream"], true);
  EXPECT_EQ((*reply)->info().head.status, 200);
  EXPECT_EQ((*reply)->info().head.header("content-type"), "text/event-stream");
  EXPECT_EQ((*reply)->info().head.header("x-plimsoll-left-out"), "n");
  const std::string first(base::read(**reply).value_or(""));
  EXPECT_NE(first.find(R"("content":"a")"), std::string::npos) << first;
  EXPECT_NE(first.find(R"("content":"b")"), std::string::npos) << first;
  const std::string second(base::read(**reply).value_or(""));
  EXPECT_TRUE(second.ends_with("data: [DONE]\n\n")) << second;
  EXPECT_EQ(base::read(**reply).value_or("?"), "");
  EXPECT_EQ(base::read(**reply).value_or("?"), "");
}

TEST(OllamaLink, SaysThatAStreamBrokeOff) {
  FakeStreams streams({200, {}}, {std::string(first_line) + "\n"});
  const auto link = make_ollama(streams, {"http://host", {}});
  auto reply = wait_for(link->send(chat(true), soon()));
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_TRUE(base::read(**reply));
  const auto rest = base::read(**reply);
  ASSERT_FALSE(rest);
  EXPECT_EQ(rest.error().code, Errc::upstream_failed);
}

TEST(OllamaLink, AnswersAndErrsInOneObject) {
  FakeStreams good({200, {}}, {std::string(last_line)});
  auto reply = wait_for(make_ollama(good, {"http://host", {}})->send(chat(false), soon()));
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_EQ(Json::parse(*base::read(**reply))["object"], "chat.completion");
  EXPECT_EQ(base::read(**reply).value_or("?"), "");
  for (const bool stream : {false, true}) {
    FakeStreams bad({400, {}}, {R"({"error":"the input length)", R"( exceeds the context length"})"});
    reply = wait_for(make_ollama(bad, {"http://host", {}})->send(chat(stream), soon()));
    ASSERT_TRUE(reply) << reply.error().what;
    EXPECT_EQ((*reply)->info().head.status, 400);
    EXPECT_EQ((*reply)->info().head.header("content-type"), "application/json");
    EXPECT_EQ(Json::parse(*base::read(**reply))["error"]["message"],
              "the input length exceeds the context length");
  }
}

TEST(OllamaLink, TranslatesLongJsonOnAWorker) {
  const std::string reply = std::string(R"({"message":{"content":")") + std::string(100'000, 'a') +
                            R"("},"done":true,"prompt_eval_count":1,"eval_count":2})";
  for (const bool is_long : {false, true}) {
    base::FakeResources resources;
    UpstreamRequest request = chat(false);
    request.resources = &resources;
    if (is_long)
      request.body = R"({"messages":[{"role":"user","content":")" + std::string(100'000, 'a') + R"("}]})";
    FakeStreams streams({200, {}}, {reply});
    auto sent = wait_for(make_ollama(streams, {"http://host", {}})->send(std::move(request), soon()));
    ASSERT_TRUE(sent) << sent.error().what;
    EXPECT_EQ(resources.works, is_long ? 2 : 1);
    EXPECT_EQ(resources.held, reply.size());
  }
}

TEST(OllamaLink, FailsWhereThereIsNoMemoryForTheAnswer) {
  base::FakeResources resources(10);
  UpstreamRequest request = chat(false);
  request.resources = &resources;
  FakeStreams streams({200, {}}, {std::string(20, ' ')});
  const auto sent = wait_for(make_ollama(streams, {"http://host", {}})->send(std::move(request), soon()));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Errc::over_budget);
}

TEST(OllamaLink, SendsOtherRoutesAsTheyAre) {
  FakeStreams streams({200, {}}, {"{}"});
  const auto link = make_ollama(streams, {"http://host", {}});
  UpstreamRequest request;
  request.kind = RequestKind::embedding;
  request.body = R"({ "input" : "x" })";
  const auto reply = wait_for(link->send(request, soon()));
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_EQ(streams.asked.url, "http://host/v1/embeddings");
  EXPECT_EQ(streams.asked.body, request.body);
}

TEST(OllamaLink, ShowsThePrompt) {
  FakeStreams streams({200, {}}, {R"({"_debug_info":{"rendered_template":"<s>hi"}})"});
  const auto link = make_ollama(streams, {"http://host", {}});
  EXPECT_EQ(wait_for(link->rendered(chat(true), soon())).value_or("?"), "<s>hi");
  EXPECT_EQ(Json::parse(streams.asked.body)["_debug_render_only"], true);
  FakeStreams bad({404, {}}, {R"({"error":"model 'm' not found"})"});
  const auto none = wait_for(make_ollama(bad, {"http://host", {}})->rendered(chat(true), soon()));
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().what.find("not found"), std::string::npos) << none.error().what;
}

}  // namespace
INSTANTIATE_TEST_SUITE_P(
    Ollama, UpstreamContract,
    testing::Values(UpstreamMaker{
        "Ollama",
        [](HttpStreams& streams) {
          return make_ollama(streams, {"http://host", {}});
        },
        R"({"model":"m","message":{"role":"assistant","content":"Ten feet."},"done":true,"done_reason":"stop",)"
        R"("prompt_eval_count":21,"eval_count":3})",
        "application/x-ndjson",
        {"{\"message\":{\"role\":\"assistant\",\"content\":\"Ten \"},\"done\":false}\n",
         "{\"message\":{\"role\":\"assistant\",\"content\":\"feet.\"},\"done\":false}\n",
         "{\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\","
         "\"prompt_eval_count\":21,\"eval_count\":3}\n"},
        R"({"error":"the prompt is too long"})"}),
    [](const auto& made) { return made.param.name; });

}  // namespace plimsoll::ollama
