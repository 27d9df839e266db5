#include "models/upstreams.hpp"

#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "base/paths.hpp"
#include "models/breaker.hpp"
#include "models/upstream_models.hpp"

namespace plimsoll::models {
namespace {

TEST(OllamaWindowU2, IsAskedForInStepsAndNeverBeyondItsReach) {
  EXPECT_EQ(ollama_reach(4'096, 131'072, std::nullopt), 16'384);
  EXPECT_EQ(ollama_reach(32'768, 131'072, std::nullopt), 32'768);
  EXPECT_EQ(ollama_reach(4'096, 8'192, std::nullopt), 8'192);
  EXPECT_EQ(ollama_reach(4'096, 131'072, 65'536), 65'536);
  EXPECT_EQ(ollama_num_ctx(700, 4'096, 16'384), 4'096);     // what is loaded is enough: no reload
  EXPECT_EQ(ollama_num_ctx(4'097, 4'096, 16'384), 8'192);   // the next step
  EXPECT_EQ(ollama_num_ctx(100, 0, 16'384), 2'048);         // nothing is loaded
  EXPECT_EQ(ollama_num_ctx(9'000, 8'192, 10'000), 10'000);  // no step beyond the reach
  for (Tokens needed = 1; needed <= 16'384; needed += 97) {
    const Tokens asked = ollama_num_ctx(needed, 0, 16'384);
    EXPECT_GE(asked, needed);
    EXPECT_LE(asked, 16'384);
    EXPECT_EQ(ollama_num_ctx(needed, asked, 16'384), asked);
  }
}

using Failure = Breakers::Failure;
const ModelLocation good_model{0, "good"}, bad_model{0, "bad"}, elsewhere{1, "bad"};

TEST(Breakers, CloseAfterFiveFailuresInARowAndLetOneTryAgain) {
  Breakers breakers;
  Breakers::Clock::time_point now{};
  for (int i = 0; i < 4; ++i) breakers.failed(bad_model, "ann", Failure::reply, now);
  EXPECT_FALSE(breakers.closed_for(bad_model, "ann", now));
  breakers.succeeded(bad_model, "ann");
  for (int i = 0; i < 5; ++i) breakers.failed(bad_model, "ann", Failure::reply, now);
  ASSERT_TRUE(breakers.closed_for(bad_model, "ann", now));
  now += *breakers.closed_for(bad_model, "ann", now);
  EXPECT_FALSE(breakers.closed_for(bad_model, "ann", now));  // one may try
  EXPECT_TRUE(breakers.closed_for(bad_model, "ann", now));   // and only one
  breakers.failed(bad_model, "ann", Failure::reply, now);
  EXPECT_EQ(breakers.closed_for(bad_model, "ann", now), std::chrono::seconds(4));  // longer each time
  for (int i = 0; i < 20; ++i) breakers.failed(bad_model, "ann", Failure::reply, now);
  EXPECT_EQ(breakers.closed_for(bad_model, "ann", now),
            std::chrono::seconds(60));  // and no longer than a minute
  breakers.succeeded(bad_model, "ann");
  EXPECT_FALSE(breakers.closed_for(bad_model, "ann", now));
}

TEST(Breakers, OneFailingModelClosesNoOtherModelAndNobodyElsesRequests) {
  Breakers breakers;
  const Breakers::Clock::time_point now{};
  for (int i = 0; i < 50; ++i) breakers.failed(bad_model, "ann", Failure::reply, now);
  EXPECT_TRUE(breakers.is_closed(bad_model, "ann", now));
  EXPECT_FALSE(breakers.is_closed(good_model, "ann", now));
  EXPECT_FALSE(breakers.is_closed(bad_model, "bob", now));
}

TEST(Breakers, AServerThatCannotBeReachedIsClosedForEverybody) {
  Breakers breakers;
  const Breakers::Clock::time_point now{};
  for (int i = 0; i < 5; ++i) breakers.failed(bad_model, "ann", Failure::connection, now);
  EXPECT_TRUE(breakers.is_closed(good_model, "bob", now));
  EXPECT_FALSE(breakers.is_closed(elsewhere, "ann", now));
  breakers.failed(good_model, "bob", Failure::reply, now);  // the server was reached
  EXPECT_FALSE(breakers.is_closed(bad_model, "ann", now));
}

TEST(Breakers, ARequestThatWasNotSentLeavesItsTryToTheNext) {
  Breakers breakers;
  Breakers::Clock::time_point now{};
  for (int i = 0; i < 5; ++i) breakers.failed(bad_model, "ann", Failure::connection, now);
  now += *breakers.closed_for(bad_model, "ann", now);
  EXPECT_FALSE(breakers.closed_for(bad_model, "ann", now));
  breakers.not_asked(bad_model, "ann", now);
  EXPECT_FALSE(breakers.closed_for(good_model, "bob", now));
  EXPECT_TRUE(breakers.closed_for(good_model, "bob", now)) << "the server is still thought to be down";
}

TEST(Breakers, RememberNoMoreThanTheyMay) {
  Breakers breakers;
  Breakers::Clock::time_point now{};
  for (int i = 0; i < 5; ++i) breakers.failed(bad_model, "ann", Failure::reply, now);
  now += std::chrono::seconds(1);
  for (std::size_t i = 0; i < Breakers::most_kept; ++i)
    breakers.failed({0, std::to_string(i)}, "bob", Failure::reply, now);
  EXPECT_FALSE(breakers.is_closed(bad_model, "ann", now));
}

class NoServer final : public HttpClient {
 public:
  Result<HttpReply> send(const HttpRequest& request, Deadline /*deadline*/) override {
    if (request.url.find("second") != std::string::npos && request.url.ends_with("/v1/models"))
      return HttpReply{
          200,
          {},
          R"({"object":"list","data":[{"id":"gpt-4o","object":"model"},{"id":"team/own","object":"model"}]})"};
    return fail(Errc::unreachable, "{}: nobody answers there", request.url);
  }
};

TEST(Upstreams, ARequestGoesToTheServerThatIsNamedOrThatListsTheModel) {
  NoServer http;
  const auto catalogue = ModelCatalogue::built_in();
  WindowFinder finder(http, *catalogue, {});
  std::vector<ConfiguredUpstream> members;
  members.push_back({"one", *make_upstream("http://first.test/v1", std::nullopt)});
  members.push_back({"two", *make_upstream("http://second.test/v1", ServerKind::openai)});
  Upstreams upstreams(std::move(members), finder);
  upstreams.refresh(Deadline::after(std::chrono::seconds(2)));
  EXPECT_EQ(upstreams.find("one/any")->member, 0U);
  EXPECT_EQ(upstreams.find("one/any")->model, "any");
  EXPECT_EQ(upstreams.find("gpt-4o")->member, 1U);
  EXPECT_EQ(upstreams.find("team/own")->model, "team/own");  // a slash alone names no server
  EXPECT_EQ(upstreams.find("")->model, "gpt-4o");
  EXPECT_EQ(upstreams.find("unheard-of")->member, 0U);  // the only one that has no list
  EXPECT_TRUE(upstreams.has("two/anything"));
  EXPECT_FALSE(upstreams.has("unheard-of"));
}

// The first server answers when it is released; the second at once.
class FirstHangs final : public HttpClient {
 public:
  Result<HttpReply> send(const HttpRequest& request, Deadline deadline) override {
    if (request.url.find("first") != std::string::npos) released_.wait_until(deadline.moment());
    return answering_.send(request, deadline);
  }
  void release() { gate_.set_value(); }

 private:
  NoServer answering_;
  std::promise<void> gate_;
  std::shared_future<void> released_ = gate_.get_future().share();
};

TEST(Upstreams, AServerThatHangsDelaysNoOtherOne) {
  FirstHangs http;
  const auto catalogue = ModelCatalogue::built_in();
  FinderRules rules;
  rules.each_ask = std::chrono::seconds(60);
  WindowFinder finder(http, *catalogue, rules);
  std::vector<ConfiguredUpstream> members;
  members.push_back({"one", *make_upstream("http://first.test/v1", std::nullopt)});
  members.push_back({"two", *make_upstream("http://second.test/v1", ServerKind::openai)});
  Upstreams upstreams(std::move(members), finder);
  std::jthread asking([&] { upstreams.refresh(Deadline::after(std::chrono::seconds(60))); });
  const auto until = Deadline::after(std::chrono::seconds(30));
  while ((*upstreams.models())[1].models.empty() && !until.passed()) std::this_thread::yield();
  EXPECT_EQ((*upstreams.models())[1].models.size(), 2U);
  EXPECT_FALSE((*upstreams.models())[0].asked);
  http.release();
}

TEST(Upstreams, ListsAreCopiedForTheSameServerAndKey) {
  NoServer http;
  const auto catalogue = ModelCatalogue::built_in();
  WindowFinder finder(http, *catalogue, {});
  const auto servers = [](const char* key) {
    std::vector<ConfiguredUpstream> members;
    members.push_back({"new", *make_upstream("http://third.test/v1", ServerKind::openai)});
    members.push_back(
        {"two", *make_upstream("http://second.test/v1", ServerKind::openai, base::Secret(key))});
    return members;
  };
  Upstreams before(servers("k"), finder), same(servers("k"), finder), other(servers("another"), finder);
  before.refresh(Deadline::after(std::chrono::seconds(2)));
  same.copy_lists(before);
  other.copy_lists(before);
  EXPECT_EQ((*same.models())[1].models.size(), 2U);
  EXPECT_NE((*same.models())[0].problem, "");
  EXPECT_TRUE((*other.models())[1].models.empty());
}

// Two servers with their own lists; one is OpenAI's host.
class TwoLists final : public HttpClient {
 public:
  Result<HttpReply> send(const HttpRequest& request, Deadline /*deadline*/) override {
    if (!request.url.ends_with("/v1/models")) return HttpReply{404, {}, "{}"};
    const bool openai = request.url.find("api.openai.com") != std::string::npos;
    return HttpReply{
        200,
        {},
        openai
            ? R"({"object":"list","data":[{"id":"gpt-3.5-turbo","object":"model"},{"id":"gpt-4","object":"model"}]})"
            : R"({"object":"list","data":[
                   {"id":"Qwen/Qwen2.5-7B-Instruct","object":"model","owned_by":"vllm","max_model_len":32768},
                   {"id":"gpt-3.5-turbo","object":"model","owned_by":"vllm","max_model_len":9000},
                   {"id":"gemma3:12b","object":"model","owned_by":"vllm","max_model_len":60000}]})"};
  }
};

struct TwoServers {
  TwoLists http;
  ModelCatalogue catalogue = *ModelCatalogue::built_in();
  TokenizerLibrary tokenizers = [] {
    const auto cache = base::cache_folder(base::current_environment());
    return TokenizerLibrary(cache / "assets", cache / "tokenizers");
  }();
  ledger::DriftBook drift;
  WindowFinder finder;
  Upstreams upstreams;
  UpstreamModels models;

  explicit TwoServers(FinderRules rules = {})
      : finder(http, catalogue, rules),
        upstreams(servers(), finder),
        models(upstreams, finder, catalogue, tokenizers, drift, {}) {
    upstreams.refresh(Deadline::after(std::chrono::seconds(5)));
  }
  static std::vector<ConfiguredUpstream> servers() {
    std::vector<ConfiguredUpstream> members;
    members.push_back({"vllm", *make_upstream("http://gpu.test/v1", std::nullopt)});
    members.push_back({"openai", *make_upstream("https://api.openai.com/v1", std::nullopt)});
    return members;
  }
  std::string served(std::string_view name) const {
    const auto location = models.served_as(name);
    return location ? upstreams.members()[location->member].name + ": " + location->model : "none";
  }
  PlanModel open(std::string_view name, bool with_override = true) const {
    return *models.open(*models.served_as(name), Deadline::after(std::chrono::seconds(5)), with_override);
  }
};

TEST(UpstreamModels, FindAModelByTheNameThatAServerLists) {
  const TwoServers two;
  EXPECT_EQ(two.served("qwen2.5:7b"), "vllm: Qwen/Qwen2.5-7B-Instruct");
  EXPECT_EQ(two.served("Qwen2.5-7B-Instruct"), "vllm: Qwen/Qwen2.5-7B-Instruct");
  EXPECT_EQ(two.served("gpt-3.5-turbo"), "vllm: gpt-3.5-turbo");
  EXPECT_EQ(two.served("openai/gpt-3.5-turbo"), "openai: gpt-3.5-turbo");
  EXPECT_EQ(two.served("gpt-4-0613"), "openai: gpt-4");
  EXPECT_EQ(two.served("gpt-4o"), "none");
  EXPECT_EQ(two.served("gemini-2.5-flash"), "none");
  EXPECT_EQ(two.served(""), "none");
}

TEST(UpstreamModels, OnlyTheProviderItselfLimitsTheAnswer) {
  const TwoServers two;
  EXPECT_EQ(two.open("gemma3:12b").max_output, 0);          // the catalogue's figure is novita's
  EXPECT_EQ(two.open("vllm/gpt-3.5-turbo").max_output, 0);  // and OpenAI's, at another host
  EXPECT_EQ(two.open("openai/gpt-3.5-turbo").max_output, 4096);
  EXPECT_EQ(two.open("openai/gpt-4").max_output, 0);  // Azure's
}

TEST(UpstreamModels, AnOverrideIsForTheModelThatIsAsked) {
  FinderRules rules;
  rules.configured = 2000;
  const TwoServers two(rules);
  EXPECT_EQ(two.open("gemma3:12b").window.tokens, 2000);
  EXPECT_EQ(two.open("gemma3:12b", /*with_override=*/false).window.tokens, 60'000);
}

TEST(Upstreams, WithoutServersItSaysHowToGetOne) {
  NoServer http;
  const auto catalogue = ModelCatalogue::built_in();
  WindowFinder finder(http, *catalogue, {});
  const Upstreams upstreams({}, finder);
  const auto found = upstreams.find("gpt-4o");
  ASSERT_FALSE(found);
  EXPECT_TRUE(found.error().what.starts_with("InferenceService not configured.")) << found.error().what;
}

}  // namespace
}  // namespace plimsoll::models
