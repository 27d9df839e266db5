#include "adapters/anthropic/link.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/testing_streams.hpp"
#include "contract/upstream/upstream_contract.hpp"

namespace plimsoll::anthropic {
namespace {

using Json = nlohmann::json;
using base::FakeStreams;
using base::soon;
using base::wait_for;

UpstreamRequest chat(bool stream) {
  UpstreamRequest request;
  request.model = "m";
  request.body = R"({"messages":[{"role":"user","content":"hi"}],"seed":2})";
  request.stream = stream;
  request.refuse_inexpressible = false;
  return request;
}

std::string header(const HttpRequest& request, std::string_view name) {
  for (const HttpHeader& one : request.headers)
    if (one.name == name) return one.value;
  return "none";
}

ReplyHead streaming() {
  return {200, {{"content-type", "text/event-stream; charset=utf-8"}, {"request-id", "req_1"}}};
}

const std::string first_event =
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
    "{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n";
const std::string last_event = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

TEST(AnthropicLink, TranslatesLongJsonOnAWorker) {
  const std::string reply =
      R"({"type":"message","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":")" +
      std::string(100'000, 'a') + R"("}],"usage":{"input_tokens":1,"output_tokens":2}})";
  for (const bool is_long : {false, true}) {
    base::FakeResources resources;
    UpstreamRequest request = chat(false);
    request.resources = &resources;
    if (is_long)
      request.body = R"({"messages":[{"role":"user","content":")" + std::string(100'000, 'a') + R"("}]})";
    FakeStreams streams({200, {}}, {reply});
    auto sent = wait_for(make_anthropic(streams, {"http://host", {}})->send(std::move(request), soon()));
    ASSERT_TRUE(sent) << sent.error().what;
    EXPECT_EQ(resources.works, is_long ? 2 : 1);
    EXPECT_EQ(resources.held, reply.size());
  }
}

TEST(AnthropicLink, FailsWhereThereIsNoMemoryForTheAnswer) {
  base::FakeResources resources(10);
  UpstreamRequest request = chat(false);
  request.resources = &resources;
  FakeStreams streams({200, {}}, {std::string(20, ' ')});
  const auto sent = wait_for(make_anthropic(streams, {"http://host", {}})->send(std::move(request), soon()));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Errc::over_budget);
}

TEST(AnthropicLink, SendsTheKeyAndTheVersionInItsOwnHeaders) {
  for (const char* root : {"https://host", "https://host/", "https://host/v1", "https://host/v1/"}) {
    FakeStreams streams({200, {}}, {R"({"content":[]})"});
    const auto link = make_anthropic(streams, {root, base::Secret("geheim")});
    ASSERT_TRUE(wait_for(link->send(chat(false), soon())));
    EXPECT_EQ(streams.asked.method, "POST");
    EXPECT_EQ(streams.asked.url, "https://host/v1/messages");
    EXPECT_EQ(header(streams.asked, "x-api-key"), "geheim");
    EXPECT_EQ(header(streams.asked, "anthropic-version"), "2023-06-01");
    EXPECT_EQ(header(streams.asked, "Authorization"), "none");
    EXPECT_EQ(header(streams.asked, "Content-Type"), "application/json");
  }
  FakeStreams streams({200, {}}, {R"({"content":[]})"});
  ASSERT_TRUE(wait_for(make_anthropic(streams, {"http://host", {}})->send(chat(false), soon())));
  EXPECT_EQ(header(streams.asked, "x-api-key"), "none");
}

TEST(AnthropicLink, HandsOutTogetherWhatArrivedTogether) {
  FakeStreams streams(streaming(),
                      {first_event + first_event + last_event.substr(0, 30), last_event.substr(30)});
  const auto link = make_anthropic(streams, {"http://host", {}});
  auto reply = wait_for(link->send(chat(true), soon()));
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_EQ(Json::parse(streams.asked.body)["stream"], true);
  EXPECT_EQ((*reply)->info().head.status, 200);
  EXPECT_EQ((*reply)->info().head.header("content-type"), "text/event-stream");
  EXPECT_EQ((*reply)->info().head.header("x-request-id"), "req_1");
  EXPECT_EQ((*reply)->info().head.header("x-plimsoll-left-out"), "seed");
  const std::string first(base::read(**reply).value_or(""));
  EXPECT_NE(first.find(R"("content":"a")"), first.rfind(R"("content":"a")")) << first;
  const std::string second(base::read(**reply).value_or(""));
  EXPECT_TRUE(second.ends_with("data: [DONE]\n\n")) << second;
  EXPECT_EQ(base::read(**reply).value_or("?"), "");
  EXPECT_EQ(base::read(**reply).value_or("?"), "");
}

TEST(AnthropicLink, SaysThatAStreamBrokeOff) {
  FakeStreams streams(streaming(), {first_event});
  const auto link = make_anthropic(streams, {"http://host", {}});
  auto reply = wait_for(link->send(chat(true), soon()));
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_TRUE(base::read(**reply));
  const auto rest = base::read(**reply);
  ASSERT_FALSE(rest);
  EXPECT_EQ(rest.error().code, Errc::upstream_failed);
}

TEST(AnthropicLink, TakesAStreamWhoseLastEventHasNoEmptyLine) {
  FakeStreams streams(streaming(), {first_event, last_event.substr(0, last_event.size() - 2)});
  auto reply = wait_for(make_anthropic(streams, {"http://host", {}})->send(chat(true), soon()));
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_TRUE(base::read(**reply));
  const std::string rest(base::read(**reply).value_or(""));
  EXPECT_TRUE(rest.ends_with("data: [DONE]\n\n")) << rest;
}

TEST(AnthropicLink, AnswersAndErrsInOneObject) {
  FakeStreams good({200, {{"content-type", "application/json"}}},
                   {R"({"content":[{"type":"text",)", R"("text":"Hi"}]})"});
  auto reply = wait_for(make_anthropic(good, {"http://host", {}})->send(chat(true), soon()));
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_EQ((*reply)->info().head.header("content-type"), "application/json");
  EXPECT_EQ(Json::parse(*base::read(**reply))["choices"][0]["message"]["content"], "Hi");
  EXPECT_EQ(base::read(**reply).value_or("?"), "");
  for (const bool stream : {false, true}) {
    FakeStreams bad(
        {529, {{"retry-after", "7"}, {"anthropic-ratelimit-requests-remaining", "0"}}},
        {R"({"type":"error","error":{"type":"overloaded_error",)", R"("message":"Overloaded"}})"});
    reply = wait_for(make_anthropic(bad, {"http://host", {}})->send(chat(stream), soon()));
    ASSERT_TRUE(reply) << reply.error().what;
    EXPECT_EQ((*reply)->info().head.status, 529);
    EXPECT_EQ((*reply)->info().head.header("retry-after"), "7");
    EXPECT_EQ((*reply)->info().head.header("anthropic-ratelimit-requests-remaining"), "0");
    EXPECT_EQ(Json::parse(*base::read(**reply))["error"]["message"], "Overloaded");
  }
}

TEST(AnthropicLink, SendsANativeRequestAsItIsAndReadsTheFactsOfItsReply) {
  const std::string whole = R"({ "content":[], "stop_reason":"max_tokens",
    "usage":{"input_tokens":1,"cache_read_input_tokens":5,"output_tokens":3}})";
  UpstreamRequest request = chat(false);
  request.native =
      NativeRequest{R"({ "x" : 1 })", {{"anthropic-version", "2026-10-21"}, {"anthropic-beta", "b"}}};
  FakeStreams streams({200, {{"content-type", "application/json"}}}, {whole});
  const auto link = make_anthropic(streams, {"http://host", base::Secret("geheim")});
  auto reply = wait_for(link->send(request, soon()));
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_EQ(streams.asked.body, R"({ "x" : 1 })");
  EXPECT_EQ(header(streams.asked, "anthropic-version"), "2026-10-21");
  EXPECT_EQ(header(streams.asked, "anthropic-beta"), "b");
  EXPECT_EQ(header(streams.asked, "x-api-key"), "geheim");
  EXPECT_TRUE((*reply)->info().is_native);
  const auto body = wait_for((*reply)->body(std::chrono::seconds(5), soon()));
  ASSERT_TRUE(body) << body.error().what;
  EXPECT_EQ(body->text, whole);
  EXPECT_EQ(body->facts.usage.input, 6);
  EXPECT_EQ(body->facts.usage.answer, 3);
  EXPECT_EQ(body->facts.finish_reason, "length");
}

TEST(AnthropicLink, PassesNativeEventsOnAndKnowsTheLastOne) {
  UpstreamRequest request = chat(true);
  request.native = NativeRequest{"{}", {}};
  const std::string opening =
      "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9,"
      "\"output_tokens\":1}}}\n\n";
  const std::string delta =
      "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},"
      "\"usage\":{\"output_tokens\":4}}\n\n";
  FakeStreams streams(streaming(), {opening + first_event + delta + last_event});
  const auto link = make_anthropic(streams, {"http://host", {}});
  auto reply = wait_for(link->send(request, soon()));
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_EQ(header(streams.asked, "anthropic-version"), "2023-06-01");
  const auto events = wait_for((*reply)->next(std::chrono::seconds(5), soon()));
  ASSERT_TRUE(events) << events.error().what;
  EXPECT_EQ(events->bytes, opening + first_event + delta + last_event);
  ASSERT_EQ(events->each.size(), 4U);
  EXPECT_EQ(events->each[0].facts.usage.input, 9);
  EXPECT_FALSE(events->each[1].facts.usage.input);
  EXPECT_EQ(events->each[2].facts.usage.input, 9);
  EXPECT_EQ(events->each[2].facts.usage.answer, 4);
  EXPECT_EQ(events->each[2].facts.finish_reason, "stop");
  EXPECT_FALSE(events->each[2].is_done);
  EXPECT_TRUE(events->each[3].is_done);
}

TEST(AnthropicLink, RefusesOtherRoutesAndSaysWhatToDo) {
  FakeStreams streams({200, {}}, {"{}"});
  const auto link = make_anthropic(streams, {"http://host", {}});
  for (const auto& [kind, advice] : {std::pair{RequestKind::completion, "/v1/chat/completions"},
                                     std::pair{RequestKind::embedding, "all-minilm-l6-v2"}}) {
    UpstreamRequest request;
    request.kind = kind;
    const auto reply = wait_for(link->send(request, soon()));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Errc::bad_input);
    EXPECT_NE(reply.error().what.find(advice), std::string::npos) << reply.error().what;
  }
  EXPECT_EQ(streams.asked.url, "");
}

}  // namespace
INSTANTIATE_TEST_SUITE_P(
    Anthropic, UpstreamContract,
    testing::Values(UpstreamMaker{
        "Anthropic",
        [](HttpStreams& streams) {
          return make_anthropic(streams, {"http://host", {}});
        },
        R"({"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Ten feet."}],)"
        R"("stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":21,"output_tokens":3}})",
        "text/event-stream",
        {"event: message_start\ndata: "
         "{\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"content\":[],"
         "\"usage\":{\"input_tokens\":21,\"output_tokens\":1}}}\n\n",
         "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":"
         "{\"type\":\"text\",\"text\":\"\"}}\n\n",
         "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
         "{\"type\":\"text_delta\",\"text\":\"Ten feet.\"}}\n\n",
         "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
         "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},"
         "\"usage\":{\"output_tokens\":3}}\n\n",
         "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"},
        R"({"type":"error","error":{"type":"invalid_request_error","message":"the prompt is too long"}})"}),
    [](const auto& made) { return made.param.name; });

}  // namespace plimsoll::anthropic
