#include "adapters/memory_http/provider.hpp"

#include <mutex>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "contract/memory/memory_contract.hpp"

namespace plimsoll::memory_http {
namespace {

class FakeServer final : public HttpClient {
 public:
  Result<HttpReply> send(const HttpRequest& request, Deadline) override {
    const std::lock_guard lock(mutex_);
    requests.push_back(request);
    return HttpReply{.status = status, .location = "", .body = body};
  }
  std::vector<HttpRequest> requests;
  int status = 200;
  std::string body = R"({"memories":[]})";

 private:
  std::mutex mutex_;
};

const Deadline patience = Deadline::after(std::chrono::minutes(1));

std::shared_ptr<MemoryProvider> knowing(const std::vector<std::string>& texts) {
  nlohmann::json memories = nlohmann::json::array();
  for (const std::string& text : texts) memories.push_back({{"text", text}});
  const auto server = std::make_shared<FakeServer>();
  server->body = nlohmann::json{{"memories", memories}}.dump();
  return make_provider(server, {.name = "notes", .url = "http://host/recall", .shown = "http://host"});
}

std::shared_ptr<MemoryProvider> failing() {
  const auto server = std::make_shared<FakeServer>();
  server->status = 503;
  return make_provider(server, {.name = "notes", .url = "http://host/recall", .shown = "http://host"});
}

TEST(HttpMemory, AsksWithItsLimitsAndItsKeyAndReadsWhatComes) {
  const auto server = std::make_shared<FakeServer>();
  server->body =
      R"({"memories":[{"id":"7","text":"Ann likes tea","importance":0.8,"trust":7,"at":1700000000000},{"text":"x","id":9}]})";
  const auto provider = make_provider(
      server,
      {.name = "notes", .url = "http://host/recall", .shown = "http://host", .key = base::Secret("sk-1")});
  RecallAsk ask;
  ask.query = "tea?";
  ask.owner = "key_1";
  ask.session = "s";
  ask.limit = 2;
  ask.min_trust = 0.5;
  const auto facts = provider->recall(ask, patience);
  ASSERT_TRUE(facts) << facts.error().what;
  ASSERT_EQ(facts->size(), 2U);
  EXPECT_EQ((*facts)[0].fact.text, "Ann likes tea");
  EXPECT_EQ((*facts)[0].fact.trust, 1.0);  // no more than all
  EXPECT_EQ((*facts)[0].fact.updated_ms, 1'700'000'000'000);
  EXPECT_EQ((*facts)[1].fact.id, "9");
  EXPECT_GT((*facts)[0].score, (*facts)[1].score);
  const auto sent = nlohmann::json::parse(server->requests.at(0).body);
  EXPECT_EQ(sent, nlohmann::json::parse(
                      R"({"query":"tea?","limit":2,"min_trust":0.5,"owner":"key_1","session":"s"})"));
  EXPECT_EQ(server->requests[0].headers.back().value, "Bearer sk-1");
}

TEST(HttpMemory, WhatIsNoAnswerIsAnError) {
  const auto server = std::make_shared<FakeServer>();
  const auto provider = make_provider(server, {.name = "n", .url = "http://u:p@h", .shown = "http://h"});
  for (const char* body : {"", "[]", "{}", R"({"memories":1})", R"({"memories":[{}]})", R"({"memories":[1]})",
                           R"({"memories":[{"text":3}]})", "{\"memories\":[{\"text\":\"\xff\"}]}"}) {
    server->body = body;
    const auto facts = provider->recall({}, patience);
    EXPECT_FALSE(facts) << body;
  }
  server->body = "[" + std::string(200, '[');
  EXPECT_FALSE(provider->recall({}, patience));
  server->status = 500;
  const auto facts = provider->recall({}, patience);
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().what, "http://h answered 500");
  EXPECT_FALSE(read_memories(R"({"memories":[{"text":"a","at":-1e400,"trust":null}]})") &&
               read_memories(R"({"memories":[{"text":"a","at":1e300}]})")->at(0).fact.updated_ms != 0);
}

}  // namespace
}  // namespace plimsoll::memory_http

namespace plimsoll {

INSTANTIATE_TEST_SUITE_P(Http, MemoryContract,
                         testing::Values(MemoryMaker{"Http", memory_http::knowing, memory_http::failing}),
                         [](const auto& made) { return made.param.name; });

}  // namespace plimsoll
