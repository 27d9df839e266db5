// An engine with servers of the test's own, on one thread and on the test's clock, for tests of the whole and
// of single stages.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/chat_reply.hpp"
#include "base/paths.hpp"
#include "base/translated_reply.hpp"
#include "engine/answer.hpp"
#include "engine/record.hpp"

namespace plimsoll::engine {

// Lists the same model for every server: gpt-4o with 8,192 tokens.
class ModelLists final : public HttpClient {
 public:
  Result<HttpReply> send(const HttpRequest& request, Deadline /*deadline*/) override {
    if (request.url.ends_with("/api/tags"))
      return HttpReply{200, {}, R"({"models":[{"name":"gpt-4o","model":"gpt-4o"}]})"};
    if (request.url.ends_with("/api/show"))
      return HttpReply{200,
                       {},
                       R"({"parameters":"num_ctx 8192","model_info":{"general.architecture":"x",)"
                       R"("x.context_length":8192},"capabilities":["completion"]})"};
    if (!request.url.ends_with("/v1/models")) return HttpReply{404, {}, "{}"};
    return HttpReply{200,
                     {},
                     fmt::format(R"({{"object":"list","data":[{{"id":"gpt-4o","object":"model",)"
                                 R"("owned_by":"vllm","max_model_len":{}}}]}})",
                                 window)};
  }

  Tokens window = 8'192;
};

// A reply that is there at once.
inline std::unique_ptr<UpstreamReply> ready_reply(int status, std::string body,
                                                  std::string type = "application/json") {
  ReplyHead head{status, {{"content-type", std::move(type)}}};
  auto stream = std::make_unique<base::WholeReply>(std::move(head), std::move(body));
  return base::chat_reply(std::move(stream), std::size_t{1} << 20);
}

// Gives the replies of its script in order, the last one for ever.
class ScriptedServer final : public UpstreamLink {
 public:
  struct Reply {
    int status = 200;
    std::string body{};
    std::string type = "application/json";
    bool unreachable = false;
  };

  Awaitable<Result<std::unique_ptr<UpstreamReply>>> send(UpstreamRequest request,
                                                         Deadline /*deadline*/) override {
    got.push_back(request.body);
    last = std::move(request);
    const Reply reply = script.size() > 1 ? script[std::min(got.size(), script.size()) - 1] : script.front();
    if (reply.unreachable) co_return fail(Errc::unreachable, "connection refused");
    co_return ready_reply(reply.status, reply.body, reply.type);
  }

  std::vector<Reply> script;
  std::vector<std::string> got;
  UpstreamRequest last;
};

// A chat completion of a server, with the usage that it reports.
inline std::string completion(Tokens prompt_tokens = 0, std::string_view text = "Ten.") {
  nlohmann::ordered_json answer{
      {"choices", {{{"message", {{"role", "assistant"}, {"content", text}}}, {"finish_reason", "stop"}}}}};
  if (prompt_tokens > 0) answer["usage"] = {{"prompt_tokens", prompt_tokens}, {"completion_tokens", 2}};
  return answer.dump();
}

// A chat of one question with `words` words more, and more fields.
inline std::string chat_body(const nlohmann::ordered_json& more = nlohmann::ordered_json::object(),
                             int words = 3) {
  std::string text = "How deep?";
  for (int i = 0; i < words; ++i) text += " ship";
  nlohmann::ordered_json body{
      {"model", "gpt-4o"}, {"max_tokens", 16}, {"messages", {{{"role", "user"}, {"content", text}}}}};
  body.update(more);
  return body.dump();
}

inline Ask ask_with(std::string body) {
  Ask ask;
  ask.body = std::move(body);
  return ask;
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
    status = number_of(trace.code);
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

// Runs a coroutine to its end on this thread.
void run_to_end(Awaitable<void> work);

struct TestEngine {
  std::int64_t now_ms = 1'800'000'000'000;
  ModelLists http;
  ModelCatalogue catalogue = *ModelCatalogue::built_in();
  TokenizerLibrary tokenizers = [] {
    const auto cache = base::cache_folder(base::current_environment());
    return TokenizerLibrary(cache / "assets", cache / "tokenizers");
  }();
  ledger::DriftBook drift;
  models::WindowFinder finder{
      http, catalogue, {}, [this] {
        return models::WindowCache::Clock::time_point(std::chrono::milliseconds(now_ms));
      }};
  models::Upstreams upstreams;
  models::UpstreamModels models{
      upstreams,  finder, catalogue,
      tokenizers, drift,  models::UpstreamRules{std::nullopt, 4'096, [this] { return now_ms; }}};
  models::Breakers breakers;
  Engine engine{models, nullptr, drift, nullptr, breakers, EngineRules{}};
  std::vector<UpstreamLink*> links;  // by server

  // The servers are called "a", "b" and so on.
  explicit TestEngine(std::vector<UpstreamLink*> servers, std::optional<ServerKind> kind = {})
      : upstreams(named(servers.size(), kind), finder), links(std::move(servers)) {
    upstreams.refresh(Deadline::after(std::chrono::seconds(5)));
    engine.now = [this] { return models::Breakers::Clock::time_point(std::chrono::milliseconds(now_ms)); };
  }

  // Answers the request; the error where the client got none.
  Result<void> ask(Ask ask, TestClient& client) {
    std::string trace_id = "t";
    return run(answer(engine, worker, std::move(ask), client, soon(), trace_id));
  }

  // Runs a coroutine to its end.
  template <typename T>
  T run(Awaitable<T> work) {
    std::optional<T> result;
    run_to_end(kept(std::move(work), result));
    return *std::move(result);
  }
  static Deadline soon() { return Deadline::after(std::chrono::seconds(30)); }

  class OneThread final : public WorkerContext {
   public:
    explicit OneThread(TestEngine& test) : test_(test) {}
    UpstreamLink& link(std::size_t member) override { return *test_.links[member]; }
    Awaitable<void> elsewhere(std::function<void()> work) override {
      ++went_elsewhere;
      work();
      co_return;
    }
    Awaitable<void> pause(std::chrono::milliseconds time) override {
      test_.now_ms += time.count();
      co_return;
    }
    int went_elsewhere = 0;  // pieces of work

   private:
    TestEngine& test_;
  };
  OneThread worker{*this};

 private:
  template <typename T>
  static Awaitable<void> kept(Awaitable<T> work, std::optional<T>& result) {
    result.emplace(co_await std::move(work));
  }
  static std::vector<models::ConfiguredUpstream> named(std::size_t count, std::optional<ServerKind> kind) {
    std::vector<models::ConfiguredUpstream> members;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name(1, static_cast<char>('a' + i));
      members.push_back({name, *models::make_upstream("http://" + name + ".test/v1", kind)});
    }
    return members;
  }
};

// A request that was read and routed, for calling the next stage.
class TestRequest {
 public:
  TestRequest(TestEngine& test, Ask ask) : test_(test), received(std::move(ask), "t") {
    auto chat = read_request(received);
    EXPECT_TRUE(chat) << chat.error().what;
    auto resolved = resolve(test.engine, received, *std::move(chat));
    EXPECT_TRUE(resolved) << resolved.error().what;
    auto routed = route(test.engine, *std::move(resolved));
    EXPECT_TRUE(routed) << routed.error().what;
    request = std::move(routed->request);
    attempt = std::move(routed->first);
  }
  TestRequest(TestEngine& test, std::string body) : TestRequest(test, ask_with(std::move(body))) {}

  Result<PlanStep> plan() const {
    return plan_request(test_.engine, received, request, attempt, TestEngine::soon());
  }
  // Plans, and keeps the plan for the stages after it.
  void keep_plan() {
    auto step = plan();
    ASSERT_TRUE(step) << step.error().what;
    ASSERT_FALSE(step->again);
    ASSERT_FALSE(step->planned.refusal) << step->planned.refusal->what;
    planned = std::move(step->planned);
  }
  // As `answer` has it when the request is sent.
  Trace trace() const {
    Trace begun = begun_trace(received);
    record(request.chat, received, begun);
    record(planned, begun);
    begun.attempts.resize(1);
    return begun;
  }
  Sendable sendable() const { return {received, request, attempt, planned}; }

 private:
  TestEngine& test_;

 public:
  const Received received;
  Request request;
  Attempt attempt;
  Planned planned;
};

}  // namespace plimsoll::engine
