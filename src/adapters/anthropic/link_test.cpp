#include "adapters/anthropic/link.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/testing_streams.hpp"

namespace plimsoll::anthropic {
namespace {

using Json = nlohmann::json;
using base::FakeStreams;
using base::soon;
using base::wait_for;

UpstreamRequest chat(bool stream) {
  UpstreamRequest request;
  request.route = "/v1/chat/completions";
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

TEST(AnthropicLink, RefusesOtherRoutesAndSaysWhatToDo) {
  FakeStreams streams({200, {}}, {"{}"});
  const auto link = make_anthropic(streams, {"http://host", {}});
  for (const auto& [route, advice] : {std::pair{"/v1/completions", "/v1/chat/completions"},
                                      std::pair{"/v1/embeddings", "all-minilm-l6-v2"}}) {
    UpstreamRequest request;
    request.route = route;
    const auto reply = wait_for(link->send(request, soon()));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Errc::bad_input);
    EXPECT_NE(reply.error().what.find(advice), std::string::npos) << reply.error().what;
  }
  EXPECT_EQ(streams.asked.url, "");
}

}  // namespace
}  // namespace plimsoll::anthropic
