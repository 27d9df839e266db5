// The adapters to servers of models over real connections of this machine.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "adapters/anthropic/link.hpp"
#include "adapters/http/awaiting.hpp"
#include "adapters/http/loopback_server.hpp"
#include "adapters/http/streams.hpp"
#include "adapters/ollama/link.hpp"
#include "adapters/openai/upstream.hpp"

namespace plimsoll {
namespace {

using adapters::Connection;
using adapters::LoopbackServer;

std::string chunk(std::string_view text) {
  return fmt::format("{:x}\r\n{}\r\n", text.size(), text);
}

Deadline soon() {
  return Deadline::after(std::chrono::seconds(10));
}

UpstreamRequest chat() {
  UpstreamRequest request;
  request.model = "m";
  request.body = R"({"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true})";
  request.stream = true;
  return request;
}

// Twice the same, so that the second goes over the connection of the first.
std::vector<std::string> answers_of(boost::asio::io_context& io, UpstreamLink& link) {
  std::vector<std::string> answers;
  for (int i = 0; i < 2; ++i) {
    auto reply = adapters::wait_for(io, link.send(chat(), soon()));
    if (!reply) return {reply.error().what};
    std::string whole;
    while (true) {
      const auto events = adapters::wait_for(io, (*reply)->next(std::chrono::seconds(10), soon()));
      if (!events) return {events.error().what};
      if (events->each.empty()) break;
      whole += events->bytes;
    }
    answers.push_back(std::move(whole));
  }
  return answers;
}

TEST(Upstreams, OllamaStreamsAsOpenAi) {
  std::string asked;
  LoopbackServer server([&](Connection& connection) {
    for (std::string request; !(request = connection.read()).empty();) {
      asked = request;
      connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      connection.write(chunk("{\"message\":{\"content\":\"Hel"));
      connection.write(chunk("lo\"},\"done\":false}\n"));
      connection.write(
          chunk("{\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":9,\"eval_count\":1}\n"));
      connection.write("0\r\n\r\n");
    }
  });
  {
    boost::asio::io_context io;
    const auto streams = adapters::make_streams(io.get_executor(), {});
    const auto link = ollama::make_ollama(*streams, {server.url(""), {}});
    const auto answers = answers_of(io, *link);
    ASSERT_EQ(answers.size(), 2U) << answers[0];
    EXPECT_NE(answers[1].find(R"("content":"Hello")"), std::string::npos) << answers[1];
    EXPECT_NE(answers[1].find(R"("prompt_tokens":9)"), std::string::npos) << answers[1];
    EXPECT_TRUE(answers[1].ends_with("data: [DONE]\n\n")) << answers[1];
    EXPECT_EQ(server.connections(), 1);
  }
  EXPECT_TRUE(asked.starts_with("POST /api/chat HTTP/1.1\r\n")) << asked;
  EXPECT_NE(asked.find("\"truncate\":false,\"shift\":false"), std::string::npos) << asked;
}

TEST(Upstreams, AnthropicStreamsAsOpenAi) {
  std::string asked;
  LoopbackServer server([&](Connection& connection) {
    for (std::string request; !(request = connection.read()).empty();) {
      asked = request;
      connection.write(
          "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
      connection.write(
          chunk("event: message_start\ndata: "
                "{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9}}}\n\n"
                "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"));
      connection.write(chunk("\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}\n\n"));
      connection.write(chunk("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"));
      connection.write("0\r\n\r\n");
    }
  });
  {
    boost::asio::io_context io;
    const auto streams = adapters::make_streams(io.get_executor(), {});
    const auto link = anthropic::make_anthropic(*streams, {server.url("/v1"), base::Secret("k")});
    const auto answers = answers_of(io, *link);
    ASSERT_EQ(answers.size(), 2U) << answers[0];
    EXPECT_NE(answers[1].find(R"("content":"Hello")"), std::string::npos) << answers[1];
    EXPECT_NE(answers[1].find(R"("prompt_tokens":9)"), std::string::npos) << answers[1];
    EXPECT_TRUE(answers[1].ends_with("data: [DONE]\n\n")) << answers[1];
    EXPECT_EQ(server.connections(), 1);
  }
  EXPECT_TRUE(asked.starts_with("POST /v1/messages HTTP/1.1\r\n")) << asked;
  EXPECT_NE(asked.find("x-api-key: k\r\n"), std::string::npos) << asked;
}

TEST(Upstreams, OpenAiIsPassedThroughByteForByte) {
  const std::string events = "data: {\"choices\":[]}\n\ndata: [DONE]\n\n";
  std::string asked;
  LoopbackServer server([&](Connection& connection) {
    for (std::string request; !(request = connection.read()).empty();) {
      asked = request;
      connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(events) + "0\r\n\r\n");
    }
  });
  {
    boost::asio::io_context io;
    const auto streams = adapters::make_streams(io.get_executor(), {});
    const auto link = openai::make_upstream(*streams, {server.url("/v1"), base::Secret("k")});
    const auto answers = answers_of(io, *link);
    ASSERT_EQ(answers.size(), 2U) << answers[0];
    EXPECT_EQ(answers[1], events);
    EXPECT_EQ(server.connections(), 1);
  }
  EXPECT_TRUE(asked.starts_with("POST /v1/chat/completions HTTP/1.1\r\n")) << asked;
  EXPECT_TRUE(asked.ends_with(chat().body)) << asked;
}

}  // namespace
}  // namespace plimsoll
