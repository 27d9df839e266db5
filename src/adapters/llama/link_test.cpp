#include <gtest/gtest.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include "adapters/llama/testing.hpp"
#include "base/try.hpp"

namespace plimsoll::llama {
namespace {

using Json = nlohmann::ordered_json;

struct Got {
  int status = 0;
  std::string type, left_out, body;
};

Awaitable<Result<Got>> fetch(UpstreamLink& link, UpstreamRequest request) {
  const Deadline deadline = Deadline::after(patience);
  CO_TRY(const auto reply, co_await link.send(std::move(request), deadline));
  Got got{reply->info().head.status,
          std::string(reply->info().head.header("content-type")),
          std::string(reply->info().head.header("x-plimsoll-left-out")),
          {}};
  if (!reply->info().streams) {
    CO_TRY(const ReplyBody body, co_await reply->body(patience, deadline));
    got.body = body.text;
    co_return got;
  }
  while (true) {
    CO_TRY(const AnswerEvents events, co_await reply->next(patience, deadline));
    if (events.each.empty()) co_return got;
    got.body += events.bytes;
  }
}

Got sent(EmbeddedModel& model, const char* body, bool stream = false, bool refuse = true,
         RequestKind kind = RequestKind::chat) {
  const auto link = make_link(model);
  UpstreamRequest request;
  request.kind = kind;
  request.body = body;
  request.model = "smollm2:135m";
  request.stream = stream;
  request.refuse_inexpressible = refuse;
  Result<Got> got = fail(Errc::timed_out, "no reply");
  boost::asio::io_context io;
  boost::asio::co_spawn(io, fetch(*link, std::move(request)),
                        [&](const std::exception_ptr&, Result<Got> result) { got = std::move(result); });
  io.run();
  EXPECT_TRUE(got) << got.error().what;
  return got.value_or(Got{});
}

TEST(EmbeddedLink, AnswersAsOpenAIDoes) {
  EmbeddedModel model(small_options());
  const Got got = sent(
      model,
      R"({"model":"m","messages":[{"role":"user","content":"Say ahoy."}],"max_tokens":6,"temperature":0})");
  ASSERT_EQ(got.status, 200) << got.body;
  const Json reply = Json::parse(got.body);
  EXPECT_EQ(reply["object"], "chat.completion");
  EXPECT_EQ(reply["model"], "smollm2:135m");
  EXPECT_FALSE(reply["choices"][0]["message"]["content"].get<std::string>().empty());
  EXPECT_EQ(reply["usage"]["total_tokens"],
            reply["usage"]["prompt_tokens"].get<int>() + reply["usage"]["completion_tokens"].get<int>());
}

TEST(EmbeddedLink, StreamsTheSameWordsAndTellsItsUsage) {
  EmbeddedModel model(small_options());
  const char* body =
      R"({"messages":[{"role":"user","content":"Count: one, two,"}],"max_tokens":8,"temperature":0})";
  const Json whole = Json::parse(sent(model, body).body);
  const Got got = sent(model, body, /*stream=*/true);
  EXPECT_EQ(got.type, "text/event-stream");
  std::string text, last_reason;
  Json usage;
  std::size_t chunks = 0;
  for (std::size_t at = 0; (at = got.body.find("data: {", at)) != std::string::npos; ++at, ++chunks) {
    const Json chunk = Json::parse(got.body.substr(at + 6, got.body.find("\n\n", at) - at - 6));
    for (const Json& choice : chunk["choices"]) {
      text += choice["delta"].value("content", "");
      if (choice["finish_reason"].is_string()) last_reason = choice["finish_reason"];
    }
    if (chunk.contains("usage")) usage = chunk["usage"];
  }
  EXPECT_EQ(text, whole["choices"][0]["message"]["content"].get<std::string>());
  EXPECT_EQ(last_reason, whole["choices"][0]["finish_reason"].get<std::string>());
  EXPECT_EQ(usage["prompt_tokens"], whole["usage"]["prompt_tokens"]);
  EXPECT_GT(chunks, 2U);
  EXPECT_TRUE(got.body.ends_with("data: [DONE]\n\n"));
}

TEST(EmbeddedLink, SaysWhatItCannotDo) {
  EmbeddedModel model(small_options());
  const char* tools =
      R"({"messages":[{"role":"user","content":"Hi"}],"max_tokens":2,"tools":[{"type":"function","function":{"name":"f"}}]})";
  const Got refused = sent(model, tools);
  EXPECT_EQ(refused.status, 400);
  EXPECT_NE(refused.body.find("tools"), std::string::npos);
  const Got left_out = sent(model, tools, false, /*refuse=*/false);
  EXPECT_EQ(left_out.status, 200);
  EXPECT_EQ(left_out.left_out, "tools");
  EXPECT_EQ(sent(model, "{}", false, true, RequestKind::embedding).status, 404);
  EXPECT_EQ(sent(model, "nonsense").status, 400);
  const Got picture =
      sent(model,
           R"({"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:,"}}]}]})");
  EXPECT_EQ(picture.status, 400);
  EXPECT_NE(picture.body.find("text alone"), std::string::npos);
}

TEST(EmbeddedLink, TellsWhoComesTooManyToComeLater) {
  Options options = small_options();
  options.most_waiting = 0;
  EmbeddedModel model(std::move(options));
  const Got got = sent(model, R"({"messages":[{"role":"user","content":"Ahoy"}]})");
  EXPECT_EQ(got.status, 429);
  EXPECT_EQ(Json::parse(got.body)["error"]["code"], "too_many_requests");
}

TEST(EmbeddedLink, IsNotAskedAgainForAFileThatDoesNotLoad) {
  Options options = small_options();
  options.runtime.file = "/nowhere/model.gguf";
  EmbeddedModel model(std::move(options));
  EXPECT_EQ(sent(model, R"({"messages":[{"role":"user","content":"Ahoy"}]})").status, 500);
}

TEST(EmbeddedLink, TellsAnOverflowInOpenAIsWords) {
  EmbeddedModel model(small_options(512, 1));
  std::string words;
  for (int i = 0; i < 900; ++i) words += "ship ";
  const Json body{{"messages", Json::array({Json{{"role", "user"}, {"content", words}}})}};
  const Got got = sent(model, body.dump().c_str());
  EXPECT_EQ(got.status, 400);
  EXPECT_EQ(Json::parse(got.body)["error"]["code"], "context_length_exceeded");
}

}  // namespace
}  // namespace plimsoll::llama
