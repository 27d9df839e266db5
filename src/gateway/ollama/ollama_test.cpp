#include <gtest/gtest.h>

#include "gateway/ollama/ollama_answer.hpp"
#include "gateway/ollama/ollama_ask.hpp"
#include "gateway/ollama/ollama_models.hpp"
#include "gateway/openai/models_json.hpp"

namespace plimsoll::gateway {
namespace {

using Json = nlohmann::ordered_json;

Result<OllamaAsk> read(OllamaRoute route, const char* body, ServerKind kind = ServerKind::vllm) {
  OllamaTarget target;
  target.model = "m";
  target.kind = kind;
  return read_ollama_ask(route, *read_ollama_body(body), target);
}

Json chat_of(const char* body, ServerKind kind = ServerKind::vllm) {
  const auto ask = read(OllamaRoute::chat, body, kind);
  return ask ? Json::parse(ask->body) : Json(ask.error().what);
}

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> lines;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    lines.push_back(Json::parse(text.substr(at, text.find('\n', at) - at)));
  return lines;
}

TEST(OllamaShow, DescribesAnEmbedderOfThisProgram) {
  const Json shown = ollama_show(EmbedderInfo{"multilingual-e5-small", 384, 512});
  EXPECT_EQ(shown["capabilities"], Json::array({"embedding"}));
  EXPECT_EQ(shown["details"]["family"], "bert");
  EXPECT_EQ(shown["model_info"]["bert.context_length"], 512);
  EXPECT_EQ(shown["model_info"]["bert.embedding_length"], 384);
}

TEST(Embeds, KnowsAnEmbedderByItsFamilyOrItsName) {
  ReportedModel bert;
  bert.family = "nomic-bert";
  EXPECT_TRUE(embeds("nomic:latest", bert));
  for (const char* name :
       {"nomic-embed-text", "text-embedding-3-small", "all-MiniLM-L6-v2", "multilingual-e5-large"})
    EXPECT_TRUE(embeds(name, {})) << name;
  for (const char* name : {"gpt-4o", "llama3.2:3b", "qwen2.5:7b"}) EXPECT_FALSE(embeds(name, {})) << name;
}

TEST(OllamaAsk, OptionsBecomeFields) {
  const char* body = R"({"model": "m", "messages": [{"role": "user", "content": "Ahoy"}], "stream": false,
    "format": {"type": "object"}, "think": "low", "keep_alive": "5m",
    "options": {"num_ctx": 8192, "num_predict": 7, "temperature": 0.5, "stop": ["X"], "num_gpu": 3, "repeat_penalty": 1.1}})";
  const auto ask = read(OllamaRoute::chat, body);
  ASSERT_TRUE(ask);
  EXPECT_EQ(ask->num_ctx, 8192);
  EXPECT_FALSE(ask->stream);
  EXPECT_EQ(Json::parse(ask->body),
            Json::parse(R"({"model": "m", "messages": [{"role": "user", "content": "Ahoy"}], "stream": false,
    "max_tokens": 7, "temperature": 0.5, "stop": ["X"], "repetition_penalty": 1.1, "reasoning_effort": "low",
    "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}}})"));
  const Json native = chat_of(body, ServerKind::ollama);
  EXPECT_EQ(native["options"], Json::parse(R"({"num_gpu": 3, "repeat_penalty": 1.1})"));
  EXPECT_EQ(native["think"], "low");
  EXPECT_EQ(native["keep_alive"], "5m");
}

TEST(OllamaAsk, ResultsAreJoinedToTheirCalls) {
  const Json messages = chat_of(R"({"messages": [{"role": "user", "content": "?"},
    {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "a", "arguments": {"x": 1}}},
                                                         {"function": {"name": "b", "arguments": {}}}]},
    {"role": "tool", "tool_name": "b", "content": "B"}, {"role": "tool", "content": "A"}]})")["messages"];
  EXPECT_EQ(messages[1]["tool_calls"][0]["function"]["arguments"], R"({"x":1})");
  EXPECT_EQ(messages[2]["tool_call_id"], messages[1]["tool_calls"][1]["id"]);
  EXPECT_EQ(messages[3]["tool_call_id"], messages[1]["tool_calls"][0]["id"]);
}

TEST(OllamaAsk, ImagesBecomeDataUrls) {
  const Json content = chat_of(
      R"({"messages": [{"role": "user", "content": "What?", "images": ["iVBORw0KGgoAAA=="]}]})")["messages"]
                                                                                                [0]
                                                                                                ["content"];
  EXPECT_EQ(content[0]["text"], "What?");
  EXPECT_EQ(content[1]["image_url"]["url"], "data:image/png;base64,iVBORw0KGgoAAA==");
  EXPECT_EQ(chat_of(R"({"messages": [{"role": "user", "content": "", "images": ["<script>"]}]})"),
            "messages[0].images[0] is not base64");
}

TEST(OllamaAsk, WhatCannotBeSaidIsRefusedByName) {
  EXPECT_NE(chat_of(R"({"messages": [{"role": "user", "content": "?"}], "options": {"mirostat": 2}})")
                .get<std::string>()
                .find("options.mirostat"),
            std::string::npos);
  for (const char* body :
       {R"({"prompt": "x", "template": "y"})", R"({"prompt": "x", "suffix": "y"})",
        R"({"prompt": "x", "context": [1]})", R"({"prompt": 7})", R"({"prompt": "x", "raw": 1})",
        R"({"prompt": "x", "raw": true, "system": "y"})", R"({"prompt": "x", "options": []})",
        R"({"prompt": "x", "options": {"num_ctx": 0}})", R"({"prompt": "x", "think": 3})",
        R"({"prompt": "x", "format": 3})", R"({"prompt": "x", "images": "y"})"})
    EXPECT_FALSE(read(OllamaRoute::generate, body)) << body;
  EXPECT_FALSE(read(OllamaRoute::generate, R"({"prompt": "x", "raw": true})", ServerKind::ollama));
}

TEST(OllamaAsk, NothingAskedIsALoad) {
  EXPECT_TRUE(read(OllamaRoute::chat, R"({"messages": []})")->only_loads);
  EXPECT_TRUE(read(OllamaRoute::generate, R"({"keep_alive": 0})")->unloads);
  EXPECT_FALSE(read(OllamaRoute::generate, R"({"prompt": "x"})")->only_loads);
}

TEST(OllamaAnswer, CallsInPiecesBecomeWholeBeforeTheEnd) {
  OllamaAnswer answer(OllamaRoute::chat, "m");
  std::string lines;
  answer.take(R"({"choices": [{"delta": {"reasoning_content": "hm"}}]})", lines);
  answer.take(
      R"({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "a", "arguments": "{\"x\""}}]}}]})",
      lines);
  answer.take(R"({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]}}]})",
              lines);
  answer.take(R"({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})", lines);
  answer.take(R"({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}})", lines);
  answer.add_note("noted");
  answer.finish(/*complete=*/true, lines);
  const std::vector<Json> all = lines_of(lines);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0]["message"]["thinking"], "hm");
  EXPECT_EQ(all[1]["message"]["tool_calls"][0]["function"]["arguments"], Json::parse(R"({"x": 1})"));
  EXPECT_EQ(all[1]["done"], false);
  EXPECT_EQ(all[2]["done"], true);
  EXPECT_EQ(all[2]["done_reason"], "stop");
  EXPECT_EQ(all[2]["prompt_eval_count"], 9);
  EXPECT_EQ(all[2]["plimsoll"]["warnings"][0], "noted");
}

TEST(OllamaAnswer, TellsTheServersOwnTimes) {
  OllamaAnswer answer(OllamaRoute::chat, "m");
  const auto whole = answer.whole(
      R"({"choices":[{"message":{"content":"Ahoy"},"finish_reason":"stop"}],"usage":{"completion_tokens":3},
          "timings":{"prompt_ms":1.5,"predicted_ms":20}})",
      /*streams=*/false);
  const Json line = Json::parse(whole.value());
  EXPECT_EQ(line["prompt_eval_duration"], 1'500'000);
  EXPECT_EQ(line["eval_duration"], 20'000'000);
}

TEST(OllamaAnswer, ErrorsEndAStreamAndNothingFollows) {
  OllamaAnswer answer(OllamaRoute::generate, "m");
  std::string lines;
  answer.take(R"({"choices": [{"delta": {"content": "A"}}]})", lines);
  answer.take(R"({"error": {"message": "gone"}, "detail": "gone"})", lines);
  answer.take(R"({"choices": [{"delta": {"content": "B"}}]})", lines);
  answer.finish(/*complete=*/true, lines);
  const std::vector<Json> all = lines_of(lines);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["response"], "A");
  EXPECT_EQ(all[1], Json::parse(R"({"error": "gone"})"));
}

TEST(OllamaAnswer, WhatIsNoCompletionIsAnError) {
  for (const char* body : {"", "[]", "{}", R"({"choices": []})", R"({"choices": 7})"})
    EXPECT_FALSE(OllamaAnswer(OllamaRoute::chat, "m").whole(body, false)) << body;
  EXPECT_TRUE(OllamaAnswer(OllamaRoute::chat, "m").whole(R"({"choices": [{}]})", false));
}

}  // namespace
}  // namespace plimsoll::gateway
