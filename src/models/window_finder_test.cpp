#include "models/window_finder.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/source_dir.hpp"
#include "base/temporary_folder.hpp"

namespace plimsoll::models {
namespace {

using namespace std::chrono_literals;

std::string recorded(const std::string& name) {
  const auto text =
      base::read_file(base::source_dir() / "tests/detect/recorded" / (name + ".json"), 1'000'000);
  if (!text) ADD_FAILURE() << text.error().what;
  return text.value_or("");
}

// Replies as set by the test, by method and path; 404 to everything else. Records the requests.
class ScriptedClient final : public HttpClient {
 public:
  std::map<std::string, Result<HttpReply>> replies;
  std::vector<HttpRequest> asked;
  std::mutex mutex;

  void on(const std::string& route, const std::string& body, int status = 200) {
    replies.insert_or_assign(route, HttpReply{status, {}, body});
  }
  void fails(const std::string& route, Errc code, const std::string& what) {
    replies.insert_or_assign(route, tl::unexpected(Error{code, "http://u:1" + route + ": " + what}));
  }
  Result<HttpReply> send(const HttpRequest& request, Deadline deadline) override {
    const std::lock_guard lock(mutex);
    asked.push_back(request);
    if (deadline.passed()) return fail(Errc::timed_out, "{}: no time was left to ask", request.url);
    const std::string route = request.method + " " + request.url.substr(request.url.find('/', 8));
    const auto found = replies.find(route);
    return found == replies.end() ? HttpReply{404, {}, "404 page not found"} : found->second;
  }
};

const ModelCatalogue& catalogue() {
  static const ModelCatalogue made = *ModelCatalogue::built_in();
  return made;
}

struct Case {
  ScriptedClient http;
  ModelCatalogue models = catalogue();
  FinderRules rules;
  std::ostringstream log;
  std::optional<WindowFinder> finder;

  ModelReport find(std::string_view model, std::string_view url, std::optional<ServerKind> kind = {}) {
    log::start_on(log, log::Level::warning, log::Format::text);
    if (!finder) finder.emplace(http, models, rules);
    std::optional<Upstream> upstream;
    if (!url.empty()) upstream = *make_upstream(url, kind, base::Secret("geheim"));
    return *finder->find(model, upstream ? &*upstream : nullptr, Deadline::after(5s));
  }
};

std::string ways(const ModelReport& report) {
  std::string all;
  for (const WindowAttempt& attempt : report.window.tried) all += attempt.way + ": " + attempt.result + "\n";
  return all;
}

void expect(const ModelReport& report, Tokens tokens, WindowSource source, Confidence confidence) {
  EXPECT_EQ(report.window.tokens, tokens) << ways(report);
  EXPECT_EQ(name_of(report.window.source), name_of(source)) << ways(report);
  EXPECT_EQ(name_of(report.window.confidence), name_of(confidence)) << ways(report);
  EXPECT_FALSE(report.window.tried.empty());
}

// ---- D1: Ollama ----

TEST(Finder, NeverRepeatsAKeyThatAServerSendsBack) {
  Case given;
  given.http.on("GET /v1/models", R"({"error": {"message": "invalid key: Bearer geheim, go away"}})", 401);
  const ModelReport report = given.find("mystery", "http://u:1", ServerKind::vllm);
  EXPECT_EQ(ways(report).find("geheim"), std::string::npos) << ways(report);
  EXPECT_NE(ways(report).find("***"), std::string::npos) << ways(report);
  EXPECT_EQ(given.log.str().find("geheim"), std::string::npos) << given.log.str();
}

TEST(Finder, AServerThatDoesNotAnswerIsSilentAndOneThatDoesNotKnowIsNot) {
  Case gone;
  for (const char* route : {"POST /api/show", "GET /api/ps"})
    gone.http.fails(route, Errc::unreachable, "nobody answers there");
  const ModelReport silent = gone.find("llama3.2:3b", "http://u:1", ServerKind::ollama);
  EXPECT_TRUE(silent.failed && silent.silent) << ways(silent);

  Case starting;
  for (const char* route : {"POST /api/show", "GET /api/ps"}) starting.http.on(route, "{}", 503);
  EXPECT_TRUE(starting.find("llama3.2:3b", "http://u:1", ServerKind::ollama).silent);

  Case there;
  const ModelReport unknown = there.find("llama3.2:3b", "http://u:1", ServerKind::ollama);
  EXPECT_TRUE(unknown.failed && !unknown.silent) << ways(unknown);
}

TEST(Finder, OllamaWithNumCtxSet) {
  Case c;
  c.http.on("POST /api/show", recorded("ollama_show"));
  const ModelReport report = c.find("llama3.2:3b", "http://u:1", ServerKind::ollama);
  expect(report, 8192, WindowSource::served, Confidence::high);
  EXPECT_EQ(ways(report), "ollama POST /api/show: num_ctx 8,192\n");
  EXPECT_EQ(report.served.maximum, 131072);
  EXPECT_EQ(report.served.parameters, "3.2B");
  ASSERT_EQ(c.http.asked.size(), 1U);
  EXPECT_EQ(c.http.asked[0].body, R"({"model":"llama3.2:3b"})");
}

TEST(Finder, OllamaWithTheModelLoaded) {
  Case c;
  c.http.on("POST /api/show", recorded("ollama_show_unset"));
  c.http.on("GET /api/ps", recorded("ollama_ps"));
  const ModelReport report = c.find("llama3.2:3b", "http://u:1", ServerKind::ollama);
  expect(report, 16384, WindowSource::served, Confidence::medium);
  EXPECT_EQ(ways(report),
            "ollama POST /api/show: no num_ctx is set\n"
            "ollama GET /api/ps: context_length of the loaded model: 16,384\n");
}

TEST(Finder, OllamaWithNothingSetAndNothingLoadedIsTheDefaultAndNeverTheMaximum) {
  Case c;
  c.http.on("POST /api/show", recorded("ollama_show_unset"));
  c.http.on("GET /api/ps", recorded("ollama_ps_empty"));
  const ModelReport report = c.find("llama3.2:3b", "http://u:1", ServerKind::ollama);
  expect(report, 4096, WindowSource::assumed, Confidence::low);
  EXPECT_EQ(report.served.maximum, 131072);
  EXPECT_EQ(ways(report),
            "ollama POST /api/show: no num_ctx is set\n"
            "ollama GET /api/ps: the model is not loaded\n"
            "catalogue: skipped: it has the model's maximum, not the window that ollama loads it with\n"
            "default: 4,096\n");
  EXPECT_NE(c.log.str().find("warning window not found, using the default"), std::string::npos);
  EXPECT_NE(c.log.str().find("the model is not loaded"), std::string::npos) << c.log.str();
}

TEST(Finder, TheDefaultIsNoMoreThanTheModelCouldDo) {
  Case c;
  c.http.on("POST /api/show", R"({"model_info": {"general.architecture": "x", "x.context_length": 2048}})");
  c.http.on("GET /api/ps", recorded("ollama_ps_empty"));
  expect(c.find("tiny", "http://u:1", ServerKind::ollama), 2048, WindowSource::assumed, Confidence::low);
}

TEST(Finder, AnOllamaThatDoesNotKnowTheModelOrCannotBeReached) {
  Case c;
  c.http.on("POST /api/show", R"({"error": "model 'gpt-4o' not found"})", 404);
  const ModelReport unknown = c.find("gpt-4o", "http://u:1", ServerKind::ollama);
  expect(unknown, 4096, WindowSource::assumed, Confidence::low);
  EXPECT_NE(ways(unknown).find("status 404: \"model 'gpt-4o' not found\""), std::string::npos)
      << ways(unknown);
  Case away;
  away.http.fails("GET /api/version", Errc::unreachable, "nobody answers there (connection refused)");
  const ModelReport nobody = away.find("gpt-4o", "http://u:11434");
  expect(nobody, 4096, WindowSource::assumed, Confidence::low);  // the port suggests Ollama
  EXPECT_EQ(away.http.asked.size(), 1U);
}

// ---- D2: other servers, with a given and a detected kind ----

struct Server {
  ServerKind kind;
  const char* model;
  Tokens window;
  std::map<std::string, const char*> routes;
};
const Server servers[] = {
    {ServerKind::ollama,
     "llama3.2:3b",
     8192,
     {{"GET /v1/models", "ollama_v1_models"},
      {"GET /api/version", "ollama_version"},
      {"POST /api/show", "ollama_show"}}},
    {ServerKind::llama_cpp,
     "whatever",
     4096,
     {{"GET /v1/models", "llama_models"}, {"GET /props", "llama_props"}}},
    {ServerKind::vllm, "Qwen/Qwen2.5-7B-Instruct", 24576, {{"GET /v1/models", "vllm_models"}}},
    {ServerKind::vllm, "phi-4-mini-instruct", 65536, {{"GET /v1/models", "kaito_models"}}},
    {ServerKind::openrouter, "qwen/qwen3-235b-a22b", 40960, {{"GET /v1/models", "openrouter_models"}}},
    {ServerKind::lm_studio,
     "qwen2.5-7b-instruct",
     12288,
     {{"GET /v1/models", "lmstudio_v1_models"}, {"GET /api/v0/models", "lmstudio_models"}}},
    {ServerKind::tgi, "tgi", 8192, {{"GET /info", "tgi_info"}}},
    {ServerKind::openai, "llama-3.3-70b-versatile", 131072, {{"GET /v1/models", "groq_models"}}}};

TEST(Finder, EveryKindOfServerIsAskedItsOwnWayAndFoundOut) {
  for (const Server& server : servers) {
    for (const bool given : {true, false}) {
      Case c;
      for (const auto& [route, file] : server.routes) c.http.on(route, recorded(file));
      const ModelReport report =
          c.find(server.model, "http://u:1/v1", given ? std::optional(server.kind) : std::nullopt);
      EXPECT_EQ(report.window.tokens, server.window) << name_of(server.kind) << " " << given << "\n"
                                                     << ways(report);
      EXPECT_EQ(name_of(report.window.source), "served");
      EXPECT_EQ(report.kind, server.kind);
      EXPECT_LE(c.http.asked.size(), given ? 1U : 6U) << name_of(server.kind);
    }
  }
}

TEST(Finder, KindsThatAreOnlyGivenByNameOrHost) {
  Case gemini;
  gemini.http.on("GET /v1beta/models?pageSize=1000", recorded("gemini_models"));
  const ModelReport flash =
      gemini.find("gemini-2.5-flash", "https://generativelanguage.googleapis.com/v1beta");
  expect(flash, 1048576, WindowSource::served, Confidence::high);
  EXPECT_EQ(flash.window.tried[0].way, "gemini GET /v1beta/models");
  Case claude;
  claude.http.on("GET /v1/models?limit=1000", recorded("anthropic_models"));
  expect(claude.find("claude-sonnet-4-5-20250929", "https://api.anthropic.com"), 200000, WindowSource::served,
         Confidence::high);
  const ModelReport older = claude.find("claude-3-haiku-20240307", "https://api.anthropic.com");
  expect(older, 200000, WindowSource::catalogue, Confidence::medium);
  EXPECT_NE(ways(older).find("the list does not have its window"), std::string::npos) << ways(older);
}

TEST(Finder, SendsTheKeyAsEachServerWantsIt) {
  const std::tuple<ServerKind, const char*, const char*> headers[] = {
      {ServerKind::vllm, "Authorization", "Bearer geheim"},
      {ServerKind::anthropic, "x-api-key", "geheim"},
      {ServerKind::gemini, "x-goog-api-key", "geheim"}};
  for (const auto& [kind, name, value] : headers) {
    Case c;
    const ModelReport report = c.find("m", "http://u:1", kind);
    ASSERT_FALSE(c.http.asked.empty());
    int sent = 0;
    for (const HttpHeader& header : c.http.asked[0].headers) {
      sent += header.value.find("geheim") != std::string::npos ? 1 : 0;
      EXPECT_TRUE(header.name != name || header.value == value) << header.value;
    }
    EXPECT_EQ(sent, 1);
    EXPECT_EQ(ways(report).find("geheim"), std::string::npos);
    EXPECT_EQ(c.log.str().find("geheim"), std::string::npos);
  }
}

TEST(Finder, LmStudioWithTheModelNotLoadedDoesNotGiveItsMaximum) {
  Case c;
  c.http.on("GET /api/v0/models", recorded("lmstudio_models"));
  const ModelReport report = c.find("meta-llama-3.1-8b-instruct", "http://u:1", ServerKind::lm_studio);
  expect(report, 4096, WindowSource::assumed, Confidence::low);
  EXPECT_EQ(report.served.maximum, 131072);
}

// ---- D3: no server reports the window ----

TEST(Finder, TheUserStandsAboveTheServer) {
  Case c;
  c.rules.configured = 5000;
  const ModelReport set = c.find("llama3.2:3b", "http://u:1", ServerKind::ollama);
  expect(set, 5000, WindowSource::configured, Confidence::high);
  EXPECT_TRUE(c.http.asked.empty());
  Case file;
  ASSERT_TRUE(
      file.models.extend("[[model]]\nname = \"gpt-4o\"\nwindow = 7000\ntokenizer = \"o200k_base\"\n"
                         "specials = \"plain\"\nsource = \"me\"\n",
                         "mine.toml"));
  const ModelReport own = file.find("openai/gpt-4o-2024-08-06", "http://u:1", ServerKind::vllm);
  expect(own, 7000, WindowSource::configured, Confidence::high);
  EXPECT_EQ(ways(own), "models_file mine.toml: 7,000\n");
  EXPECT_TRUE(file.http.asked.empty());
  expect(file.find("gpt-4", "", {}), 8192, WindowSource::catalogue, Confidence::medium);
}

TEST(Finder, TheCatalogueComesAfterTheServerAndSaysHowSureItIs) {
  Case c;
  expect(c.find("gpt-4o", ""), 128000, WindowSource::catalogue, Confidence::medium);
  expect(c.find("NousResearch/Hermes-3-Llama-3.1-8B", ""), 128000, WindowSource::catalogue, Confidence::low);
  c.http.on("GET /v1/models", recorded("openai_models"));
  const ModelReport report = c.find("gpt-4o", "http://u:1", ServerKind::openai);
  expect(report, 128000, WindowSource::catalogue, Confidence::medium);
  EXPECT_EQ(ways(report),
            "openai GET /v1/models: the list does not have its window\ncatalogue: gpt-4o 128,000\n");
}

TEST(Finder, TheDefaultListsEveryWayTried) {
  Case c;
  c.rules.otherwise = 6000;
  const ModelReport report = c.find("my-own-model", "http://u:1");
  expect(report, 6000, WindowSource::assumed, Confidence::low);
  EXPECT_TRUE(report.failed);
  EXPECT_EQ(ways(report),
            "GET /v1/models: status 404\nGET /api/version: status 404\nGET /props: status 404\n"
            "GET /api/v0/models: status 404\nGET /info: status 404\n"
            "catalogue: no entry for 'my-own-model'\ndefault: 6,000\n");
  EXPECT_EQ(c.http.asked.size(), 5U);
}

TEST(Finder, AServerThatLiesIsNotBelieved) {
  for (const char* figure : {"-1", "0", "1e30", "\"8192\"", "[1]", "{}", "true", "999999999999"}) {
    Case c;
    c.http.on("GET /v1/models", std::string(R"({"data": [{"id": "m", "max_model_len": )") + figure + "}]}");
    const ModelReport report = c.find("m", "http://u:1");
    expect(report, 4096, WindowSource::assumed, Confidence::low);
    EXPECT_NE(ways(report).find("max_model_len is "), std::string::npos) << ways(report);
  }
}

TEST(Finder, RepliesThatAreNoneAreSaid) {
  const std::pair<HttpReply, const char*> replies[] = {
      {{500, {}, "oops"}, "status 500"},
      {{401, {}, ""}, "status 401: it requires a key"},
      {{401, {}, R"({"error": {"message": "bad \u001b[31mkey"}})"}, "status 401: \"bad \\u001b[31mkey\""},
      {{302, "http://evil.example/x?y=z", ""}, "redirect to http://evil.example, which is not followed"},
      {{200, {}, "<html>"}, "the reply is HTML or XML, not JSON"},
      {{200, {}, "{\"data\": 1}"}, "the reply has no list under data"}};
  for (const auto& [reply, words] : replies) {
    Case c;
    c.http.replies.insert_or_assign("GET /v1/models", reply);
    const ModelReport report = c.find("m", "http://u:1", ServerKind::vllm);
    expect(report, 4096, WindowSource::assumed, Confidence::low);
    EXPECT_NE(ways(report).find(words), std::string::npos) << ways(report);
  }
}

TEST(Finder, AServerThatHangsIsAskedTwiceAndOneThatIsAwayOnce) {
  Case c;
  for (const char* route :
       {"GET /v1/models", "GET /api/version", "GET /props", "GET /api/v0/models", "GET /info"})
    c.http.fails(route, Errc::timed_out, "no whole reply within 2 s");
  const ModelReport hung = c.find("m", "http://u:1");
  EXPECT_EQ(c.http.asked.size(), 2U);
  EXPECT_EQ(ways(hung),
            "GET /v1/models: no whole reply within 2 s\nGET /api/version: no whole reply within 2 s\n"
            "catalogue: no entry for 'm'\ndefault: 4,096\n");
  Case away;
  away.http.fails("GET /v1/models", Errc::unreachable, "nobody answers there (connection refused)");
  away.find("m", "http://u:1");
  EXPECT_EQ(away.http.asked.size(), 1U);
}

TEST(Finder, AGgufFileSaysWhatTheModelWasMadeFor) {
  const base::TemporaryFolder folder("finder");
  const std::string path = folder / "a.GGUF";
  const auto seed = base::read_file(base::source_dir() / "tests/corpus/readers_fuzz/gpt2.gguf", 1'000'000);
  ASSERT_TRUE(seed);
  std::ofstream(path, std::ios::binary) << *seed;
  Case c;
  const ModelReport silent = c.find(path, "");
  expect(silent, 4096, WindowSource::assumed, Confidence::low);
  EXPECT_NE(ways(silent).find("gguf file: the GGUF file has no llama.context_length"), std::string::npos);
  const ModelReport missing = c.find((folder / "none.gguf").string(), "");
  EXPECT_EQ(missing.window.tried[0].way, "gguf file");
}

// ---- D4: caching ----

TEST(Finder, AsksOnceForAWindowAndForAKindAndAgainAfterARefresh) {
  Case c;
  c.http.on("GET /v1/models", recorded("vllm_models"));
  c.find("Qwen/Qwen2.5-7B-Instruct", "http://u:1");
  c.find("Qwen/Qwen2.5-7B-Instruct", "http://u:1/v1");
  EXPECT_EQ(c.http.asked.size(), 1U);
  c.find("sql-adapter", "http://u:1");
  EXPECT_EQ(c.http.asked.size(), 2U);
  c.finder->refresh();
  c.find("Qwen/Qwen2.5-7B-Instruct", "http://u:1");
  EXPECT_EQ(c.http.asked.size(), 3U);
}

TEST(Finder, ManyThreadsAskOnce) {
  Case c;
  c.http.on("POST /api/show", recorded("ollama_show"));
  c.find("other", "http://u:1", ServerKind::ollama);
  const std::size_t before = c.http.asked.size();
  const Upstream upstream = *make_upstream("http://u:1", ServerKind::ollama);
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&] {
      right += c.finder->find("llama3.2:3b", &upstream, Deadline::after(10s))->window.tokens == 8192 ? 1 : 0;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 16);
  EXPECT_EQ(c.http.asked.size(), before + 1);
}

// ---- D5: listing ----

TEST(FinderList, HasEveryModelWithWhatTheServerSaysOfIt) {
  Case c;
  c.http.on("GET /api/tags", recorded("ollama_tags"));
  c.http.on("GET /api/ps", recorded("ollama_ps"));
  c.http.on("POST /api/show", recorded("ollama_show_unset"));
  WindowFinder finder(c.http, c.models, c.rules);
  const Upstream upstream = *make_upstream("http://u:1", ServerKind::ollama);
  std::vector<std::string> told;
  const auto models = finder.list(
      upstream, Deadline::after(5s), [&](std::size_t done, std::size_t all, std::string_view name) {
        told.push_back(std::to_string(done) + "/" + std::to_string(all) + " " + std::string(name));
      });
  ASSERT_TRUE(models) << models.error().what;
  ASSERT_EQ(models->size(), 2U);
  EXPECT_EQ((*models)[0].name, "llama3.2:3b");
  expect(*(*models)[0].report, 16384, WindowSource::served, Confidence::medium);
  expect(*(*models)[1].report, 4096, WindowSource::assumed, Confidence::low);
  EXPECT_EQ((*models)[1].report->served.quantization, "Q4_K_M");
  EXPECT_EQ(told, (std::vector<std::string>{"0/2 llama3.2:3b", "1/2 gemma3:1b"}));
  EXPECT_EQ(c.http.asked.size(), 4U);  // the list, the loaded ones once, and each model
  ASSERT_TRUE(finder.list(upstream, Deadline::after(5s)));
  EXPECT_EQ(c.http.asked.size(),
            7U);  // the list again, and for the model that has only a default, its questions
}

TEST(FinderList, AppliesWhatTheUserSet) {
  Case c;
  c.rules.configured = 9000;
  c.http.on("GET /v1/models", recorded("vllm_models"));
  WindowFinder finder(c.http, c.models, c.rules);
  const auto models = finder.list(*make_upstream("http://u:1", std::nullopt), Deadline::after(5s));
  ASSERT_TRUE(models);
  for (const ListedModel& model : *models)
    expect(*model.report, 9000, WindowSource::configured, Confidence::high);
}

TEST(FinderList, SaysWhatWasTriedWhereThereIsNoList) {
  Case c;
  c.http.fails("GET /v1/models", Errc::unreachable, "nobody answers there (connection refused)");
  WindowFinder finder(c.http, c.models, c.rules);
  const auto models = finder.list(*make_upstream("http://u:1", std::nullopt), Deadline::after(5s));
  ASSERT_FALSE(models);
  EXPECT_EQ(models.error().what,
            "cannot list the models of http://u:1. GET /v1/models: nobody answers there (connection "
            "refused)");
}

TEST(FinderList, StopsAskingAServerThatHangs) {
  Case c;
  std::string many = "{\"models\": [";
  for (int i = 0; i < 50; ++i)
    many += (i == 0 ? "" : ",") + std::string("{\"name\": \"m") + std::to_string(i) + "\"}";
  c.http.on("GET /api/tags", many + "]}");
  c.http.fails("POST /api/show", Errc::timed_out, "no whole reply within 2 s");
  c.http.fails("GET /api/ps", Errc::timed_out, "no whole reply within 2 s");
  WindowFinder finder(c.http, c.models, c.rules);
  const auto models = finder.list(*make_upstream("http://u:1", ServerKind::ollama), Deadline::after(5s));
  ASSERT_TRUE(models) << models.error().what;
  EXPECT_EQ(models->size(), 50U);
  EXPECT_EQ(c.http.asked.size(), 3U);
  EXPECT_NE(ways(*models->back().report).find("not asked: the server did not answer earlier requests"),
            std::string::npos)
      << ways(*models->back().report);
}

}  // namespace
}  // namespace plimsoll::models
