// An engine with servers of the test's own, on one thread and on the test's clock. For tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include "base/chat_reply.hpp"
#include "base/settings/settings.hpp"
#include "base/translated_reply.hpp"
#include "engine/answer.hpp"

namespace plimsoll::engine {

// Lists the same model for every server: gpt-4o with 8,192 tokens.
class ModelLists final : public HttpClient {
 public:
  Result<HttpReply> send(const HttpRequest& request, Deadline /*deadline*/) override {
    if (!request.url.ends_with("/v1/models")) return HttpReply{404, {}, "{}"};
    return HttpReply{200,
                     {},
                     R"({"object":"list","data":[{"id":"gpt-4o","object":"model","owned_by":"vllm",)"
                     R"("max_model_len":8192}]})"};
  }
};

// A reply that is there at once.
inline std::unique_ptr<UpstreamReply> ready_reply(int status, std::string body,
                                                  std::string type = "application/json") {
  ReplyHead head{status, {{"content-type", std::move(type)}}};
  auto stream = std::make_unique<base::WholeReply>(std::move(head), std::move(body));
  return base::chat_reply(std::move(stream), std::size_t{1} << 20);
}

// Keeps what the client got.
class TestClient final : public AnswerSink {
 public:
  Awaitable<Result<void>> whole(const AnswerStart& start, const ReplyBody& body,
                                const AnswerReport* report) override {
    co_return take(start, body.text, report);
  }
  Awaitable<Result<void>> begin(const AnswerStart& start) override { co_return take(start, {}, nullptr); }
  Awaitable<Result<void>> events(const AnswerEvents& events) override {
    text += events.bytes;
    co_return Result<void>();
  }
  Awaitable<Result<void>> end(const AnswerEnd& end) override {
    text += end.mark;
    if (end.broken != nullptr) broken = end.broken->what;
    tell(end.report);
    co_return Result<void>();
  }
  Awaitable<Result<void>> refused(const AnswerStart& start, const ReplyBody& body) override {
    co_return take(start, body.text, nullptr);
  }
  Awaitable<Result<void>> turned_away(const Trace& trace, const Refusal& refusal) override {
    status = trace.status;
    text = refusal.what;
    co_return Result<void>();
  }

  int status = 0;
  std::string text;
  std::string broken;                          // why a stream broke off
  bool is_told = false;                        // a report came with the answer
  bool explains = false;                       // with the whole plan
  Plan plan;                                   // of the report
  Tokens cut = 0;                              // that the server dropped, by the report
  FallbackDecision fallback;                   // of the report
  std::size_t supported = 0, unsupported = 0;  // sentences, by the report

 private:
  Result<void> take(const AnswerStart& start, const std::string& body, const AnswerReport* report) {
    status = start.from.head.status;
    text += body;
    tell(report);
    return {};
  }
  void tell(const AnswerReport* report) {
    if (report == nullptr) return;
    is_told = true;
    explains = report->explain;
    plan = report->plan;
    cut = report->trace.cut;
    fallback = report->plan.fallback;
    if (report->check == nullptr) return;
    supported = report->check->checked.supported;
    unsupported = report->check->checked.unsupported;
  }
};

struct TestEngine {
  std::int64_t now_ms = 1'800'000'000'000;
  ModelLists http;
  ModelCatalogue catalogue = *ModelCatalogue::built_in();
  TokenizerLibrary tokenizers = [] {
    const auto settings = base::load_settings({}, {});
    return TokenizerLibrary(settings->assets_dir, settings->tokenizer_dir);
  }();
  ledger::DriftBook drift;
  models::WindowFinder finder{http, catalogue, {}};
  models::Upstreams upstreams;
  models::UpstreamModels models{
      upstreams,  finder, catalogue,
      tokenizers, drift,  models::UpstreamRules{std::nullopt, 4'096, [this] { return now_ms; }}};
  models::Breakers breakers;
  Engine engine{models, nullptr, drift, nullptr, breakers, EngineRules{}};
  std::vector<UpstreamLink*> links;  // by server
  boost::asio::io_context io;

  // The servers are called "a", "b" and so on.
  explicit TestEngine(std::vector<UpstreamLink*> servers)
      : upstreams(named(servers.size()), finder), links(std::move(servers)) {
    upstreams.refresh(Deadline::after(std::chrono::seconds(5)));
    engine.now = [this] { return models::Breakers::Clock::time_point(std::chrono::milliseconds(now_ms)); };
  }

  // Answers the request; the error where the client got none.
  Result<void> ask(Ask ask, TestClient& client) {
    OneThread thread(*this);
    std::string trace_id = "t";
    Result<void> outcome;
    boost::asio::co_spawn(
        io,
        answer(engine, thread, std::move(ask), client, Deadline::after(std::chrono::seconds(30)), trace_id),
        [&](const std::exception_ptr& thrown, Result<void> done) {
          EXPECT_FALSE(thrown);
          outcome = std::move(done);
        });
    io.run();
    io.restart();
    return outcome;
  }

 private:
  class OneThread final : public WorkerContext {
   public:
    explicit OneThread(TestEngine& test) : test_(test) {}
    UpstreamLink& link(std::size_t member) override { return *test_.links[member]; }
    Awaitable<void> elsewhere(std::function<void()> work) override {
      work();
      co_return;
    }
    Awaitable<void> pause(std::chrono::milliseconds time) override {
      test_.now_ms += time.count();
      co_return;
    }

   private:
    TestEngine& test_;
  };

  static std::vector<models::ConfiguredUpstream> named(std::size_t count) {
    std::vector<models::ConfiguredUpstream> members;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name(1, static_cast<char>('a' + i));
      members.push_back({name, *models::make_upstream("http://" + name + ".test/v1", std::nullopt)});
    }
    return members;
  }
};

}  // namespace plimsoll::engine
