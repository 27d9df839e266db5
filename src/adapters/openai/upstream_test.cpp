#include "adapters/openai/upstream.hpp"

#include <optional>

#include <gtest/gtest.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "contract/upstream/upstream_contract.hpp"

namespace plimsoll::openai {
namespace {

class Reply final : public HttpStream {
 public:
  const ReplyHead& head() const override { return head_; }
  Awaitable<Result<std::string_view>> read(Deadline) override { co_return std::exchange(body_, {}); }

 private:
  ReplyHead head_{429, {{"retry-after", "7"}}};
  std::string_view body_ = "{}";
};

class FakeStreams final : public HttpStreams {
 public:
  Awaitable<Result<std::unique_ptr<HttpStream>>> open(HttpRequest request, Deadline) override {
    asked = std::move(request);
    if (broken) co_return fail(Errc::unreachable, "nobody answers there");
    std::unique_ptr<HttpStream> reply = std::make_unique<Reply>();
    co_return reply;
  }

  HttpRequest asked;
  bool broken = false;
};

using Sent = Result<std::unique_ptr<UpstreamReply>>;

Sent send(UpstreamLink& link, UpstreamRequest request) {
  boost::asio::io_context io;
  std::optional<Sent> sent;
  boost::asio::co_spawn(io, link.send(std::move(request), Deadline::after(std::chrono::seconds(5))),
                        [&](const std::exception_ptr&, Sent result) { sent.emplace(std::move(result)); });
  io.run();
  return *std::move(sent);
}

std::string header(const HttpRequest& request, std::string_view name) {
  for (const HttpHeader& one : request.headers)
    if (one.name == name) return one.value;
  return "none";
}

UpstreamRequest chat(bool stream) {
  UpstreamRequest request;
  request.body = R"({ "model":"m",  "x": 1e2 })";
  request.stream = stream;
  return request;
}

TEST(OpenAi, SendsTheBodyByteForByteWithTheKey) {
  for (const char* root : {"http://host", "http://host/", "http://host/v1", "http://host/v1/"}) {
    FakeStreams streams;
    const auto link = make_upstream(streams, {root, base::Secret("geheim")});
    const Sent reply = send(*link, chat(true));
    ASSERT_TRUE(reply) << reply.error().what;
    EXPECT_EQ((*reply)->info().head.status, 429);
    EXPECT_EQ((*reply)->info().took, Took::limited);
    EXPECT_EQ((*reply)->info().retry_after, std::chrono::seconds(7));
    EXPECT_EQ(streams.asked.method, "POST");
    EXPECT_EQ(streams.asked.url, "http://host/v1/chat/completions");
    EXPECT_EQ(streams.asked.body, chat(true).body);
    EXPECT_EQ(header(streams.asked, "Authorization"), "Bearer geheim");
    EXPECT_EQ(header(streams.asked, "Content-Type"), "application/json");
    EXPECT_EQ(header(streams.asked, "Accept"), "text/event-stream");
  }
}

TEST(OpenAi, SendsNoKeyWhereThereIsNone) {
  FakeStreams streams;
  const auto link = make_upstream(streams, {"http://host/api", {}});
  ASSERT_TRUE(send(*link, chat(false)));
  EXPECT_EQ(streams.asked.url, "http://host/api/v1/chat/completions");
  EXPECT_EQ(header(streams.asked, "Authorization"), "none");
  EXPECT_EQ(header(streams.asked, "Accept"), "application/json");
}

TEST(OpenAi, GivesBackWhatFailed) {
  FakeStreams streams;
  streams.broken = true;
  const auto link = make_upstream(streams, {"http://host", {}});
  const Sent reply = send(*link, chat(false));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::unreachable);
  EXPECT_EQ(reply.error().what, "nobody answers there");
}

}  // namespace
INSTANTIATE_TEST_SUITE_P(
    OpenAi, UpstreamContract,
    testing::Values(UpstreamMaker{
        "OpenAi",
        [](HttpStreams& streams) {
          return make_upstream(streams, {"http://host", {}});
        },
        R"({"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Ten feet."},)"
        R"("finish_reason":"stop"}],"usage":{"prompt_tokens":21,"completion_tokens":3,"total_tokens":24}})",
        "text/event-stream",
        {"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Ten \"},\"finish_reason\":null}]}\n\n",
         "data: "
         "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"feet.\"},\"finish_reason\":\"stop\"}]}\n\n",
         "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":21,\"completion_tokens\":3}}\n\n",
         "data: [DONE]\n\n"},
        R"({"error":{"message":"the prompt is too long","type":"invalid_request_error"}})"}),
    [](const auto& made) { return made.param.name; });

}  // namespace plimsoll::openai
