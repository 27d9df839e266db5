#include "adapters/embed_http/embedder.hpp"

#include <mutex>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "contract/embedder/embedder_contract.hpp"

namespace plimsoll::embed_http {
namespace {

// Answers as it is told, and remembers what it was asked.
class FakeServer final : public HttpClient {
 public:
  Result<HttpReply> send(const HttpRequest& request, Deadline) override {
    const std::lock_guard lock(mutex_);
    requests.push_back(request);
    if (status != 200) return HttpReply{.status = status, .location = "", .body = error};
    const auto inputs = nlohmann::json::parse(request.body)["input"];
    nlohmann::json body{{"data", nlohmann::json::array()}, {"embeddings", nlohmann::json::array()}};
    for (std::size_t i = inputs.size(); i-- > 0;) {  // the wrong way round: `index` counts
      const nlohmann::json vector{static_cast<double>(inputs[i].get<std::string>().size()), 0.0, 4.0};
      if (request.url.ends_with("/api/embed")) {
        body["embeddings"].insert(body["embeddings"].begin(), vector);
      } else {
        body["data"].push_back({{"index", i}, {"embedding", vector}});
      }
    }
    return HttpReply{.status = 200, .location = "", .body = body.dump()};
  }

  std::vector<HttpRequest> requests;
  int status = 200;
  std::string error;

 private:
  std::mutex mutex_;
};

const Deadline patience = Deadline::after(std::chrono::minutes(1));

Options options(Dialect dialect) {
  return {.dialect = dialect,
          .root = "http://user:pass@host",
          .shown = "http://host",
          .model = "m",
          .name = "openai:m",
          .key = base::Secret("sk-secret"),
          .texts_per_request = 2};
}

// An embedder with a server of its own.
Result<std::shared_ptr<Embedder>> with_server(Dialect dialect) {
  struct Both {
    FakeServer server;
    std::unique_ptr<Embedder> embedder;
  };
  auto both = std::make_shared<Both>();
  auto made = make_embedder(both->server, options(dialect), patience);
  if (!made) return tl::unexpected(made.error());
  both->embedder = *std::move(made);
  return std::shared_ptr<Embedder>(both, both->embedder.get());
}

TEST(HttpEmbedder, SendsBatchesAndGivesUnitVectorsInOrder) {
  for (const Dialect dialect : {Dialect::openai, Dialect::ollama}) {
    FakeServer server;
    const auto embedder = make_embedder(server, options(dialect), patience);
    ASSERT_TRUE(embedder) << embedder.error().what;
    EXPECT_EQ((*embedder)->info(), (EmbedderInfo{.name = "openai:m", .dimensions = 3, .max_tokens = 0}));
    const std::string_view texts[] = {"abc", "", "abcabcabc"};
    const auto vectors = (*embedder)->embed(texts, patience);
    ASSERT_TRUE(vectors) << vectors.error().what;
    ASSERT_EQ(vectors->size(), 9U);
    EXPECT_FLOAT_EQ((*vectors)[0], 0.6F);
    EXPECT_FLOAT_EQ((*vectors)[2], 0.8F);
    EXPECT_NEAR((*vectors)[6], 9 / std::sqrt(97.0), 1e-6);
    EXPECT_EQ(server.requests.size(), 3U);  // one to learn, two for three texts
    EXPECT_EQ(server.requests[0].url, std::string("http://user:pass@host") +
                                          (dialect == Dialect::openai ? "/v1/embeddings" : "/api/embed"));
  }
}

TEST(HttpEmbedder, SaysWhatTheServerSaidAndNeverTheKey) {
  FakeServer server;
  server.status = 404;
  server.error = R"({"error": {"message": "model m not found"}})";
  const auto embedder = make_embedder(server, options(Dialect::openai), patience);
  ASSERT_FALSE(embedder);
  EXPECT_EQ(embedder.error().code, Errc::not_found);
  EXPECT_EQ(embedder.error().what,
            "http://host answered 404 when asked to embed with 'm': model m not found");
}

TEST(HttpEmbedder, RefusesRepliesThatAreNotVectors) {
  for (const char* body :
       {"", "[]", "{}", R"({"data": []})", R"({"data": [{"index": 1, "embedding": [1, 2]}]})",
        R"({"data": [{"index": 0, "embedding": ["a"]}]})", R"({"data": [{"index": 0, "embedding": []}]})",
        R"({"data": [{"index": 0, "embedding": [1e999]}]})", R"({"data": [{"index": 0}]})",
        R"({"data": [7]})"}) {
    const auto read = read_vectors(Dialect::openai, body, 1, 0);
    ASSERT_FALSE(read) << body;
  }
  EXPECT_FALSE(read_vectors(Dialect::ollama, R"({"embeddings": [[1, 2]]})", 1, 3));
  EXPECT_FALSE(read_vectors(Dialect::ollama, R"({"embeddings": [[1, 2]]})", 2, 2));
  EXPECT_TRUE(read_vectors(Dialect::ollama, R"({"embeddings": [[1, 2]]})", 1, 2));
}

}  // namespace
}  // namespace plimsoll::embed_http

namespace plimsoll {

INSTANTIATE_TEST_SUITE_P(
    Http, EmbedderContract,
    testing::Values(
        EmbedderMaker{"OpenAi", [] { return embed_http::with_server(embed_http::Dialect::openai); }},
        EmbedderMaker{"Ollama", [] { return embed_http::with_server(embed_http::Dialect::ollama); }}),
    [](const auto& made) { return made.param.name; });

}  // namespace plimsoll
