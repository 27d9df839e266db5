#include "adapters/ollama/from_ollama.hpp"

#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace plimsoll::ollama {
namespace {

using Json = nlohmann::json;

const Identity identity{"chatcmpl-77", 1234, "m"};

// The JSON of every event; [DONE] must be the last.
std::vector<Json> events_of(std::initializer_list<const char*> lines) {
  EventWriter writer(identity);
  std::string text;
  for (const char* line : lines) {
    const auto taken = writer.take(line, text);
    EXPECT_TRUE(taken) << taken.error().what;
  }
  EXPECT_TRUE(writer.has_ended());
  EXPECT_TRUE(text.ends_with("data: [DONE]\n\n")) << text;
  std::vector<Json> events;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find("\n\n", at);
    EXPECT_EQ(text.substr(at, 6), "data: ");
    const std::string event = text.substr(at + 6, end - at - 6);
    if (event != "[DONE]") events.push_back(Json::parse(event));
    at = end + 2;
  }
  return events;
}

TEST(FromOllama, MakesChunksOfLines) {
  const auto events = events_of(
      {R"({"model":"m","message":{"role":"assistant","content":"","thinking":"hm"},"done":false})",
       R"({"message":{"role":"assistant","content":"Hello"},"done":false})",
       R"({"message":{"role":"assistant","content":" you"},"done":false})",
       R"({"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":31,"eval_count":4})"});
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[0]["id"], "chatcmpl-77");
  EXPECT_EQ(events[0]["object"], "chat.completion.chunk");
  EXPECT_EQ(events[0]["created"], 1234);
  EXPECT_EQ(events[0]["model"], "m");
  EXPECT_EQ(events[0]["choices"][0]["delta"],
            Json::parse(R"({"role":"assistant","content":"","reasoning_content":"hm"})"));
  EXPECT_EQ(events[1]["choices"][0]["delta"], Json::parse(R"({"content":"Hello"})"));
  EXPECT_EQ(events[1]["choices"][0]["finish_reason"], nullptr);
  EXPECT_EQ(events[2]["choices"][0]["delta"]["content"], " you");
  EXPECT_EQ(events[3]["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(events[4]["choices"], Json::array());
  EXPECT_EQ(events[4]["usage"],
            Json::parse(R"({"prompt_tokens":31,"completion_tokens":4,"total_tokens":35})"));
}

TEST(FromOllama, NumbersToolCallsAndGivesThemIds) {
  const auto events = events_of(
      {R"({"message":{"tool_calls":[{"function":{"name":"f","arguments":{"z":1,"a":2}}}]},"done":false})",
       R"({"message":{"tool_calls":[{"id":"call_x","function":{"name":"g"}}]},"done":true,"done_reason":"stop"})"});
  const Json first = events[0]["choices"][0]["delta"]["tool_calls"][0];
  EXPECT_EQ(first["index"], 0);
  EXPECT_EQ(first["id"], "call_77_0");
  EXPECT_EQ(first["type"], "function");
  EXPECT_EQ(first["function"]["arguments"], R"({"z":1,"a":2})");
  const Json second = events[1]["choices"][0]["delta"]["tool_calls"][0];
  EXPECT_EQ(second["index"], 1);
  EXPECT_EQ(second["id"], "call_x");
  EXPECT_EQ(second["function"]["arguments"], "{}");
  EXPECT_EQ(events[2]["choices"][0]["finish_reason"], "tool_calls");
  EXPECT_EQ(events.size(), 3U) << "no usage was said, so none is made up";
}

TEST(FromOllama, PassesAnErrorWithinAStreamOn) {
  const auto events = events_of({R"({"message":{"content":"Hel"},"done":false})",
                                 R"({"error":"the input length exceeds the context length"})"});
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[1]["error"]["message"], "the input length exceeds the context length");
}

TEST(FromOllama, MakesOneCompletion) {
  const auto text = to_completion(
      R"({"message":{"role":"assistant","content":"Hi","thinking":"hm"},"done":true,"done_reason":"length",
          "prompt_eval_count":3,"eval_count":1,"prompt_eval_duration":1500000,"eval_duration":20000000,"logprobs":[{"token":"Hi","logprob":-0.5}]})",
      identity);
  ASSERT_TRUE(text) << text.error().what;
  const Json completion = Json::parse(*text);
  EXPECT_EQ(completion["object"], "chat.completion");
  EXPECT_EQ(completion["choices"][0]["message"],
            Json::parse(R"({"role":"assistant","content":"Hi","reasoning_content":"hm"})"));
  EXPECT_EQ(completion["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(completion["choices"][0]["logprobs"]["content"][0]["token"], "Hi");
  EXPECT_EQ(completion["usage"]["total_tokens"], 4);
  EXPECT_EQ(completion["timings"], Json::parse(R"({"prompt_ms":1.5,"predicted_ms":20.0})"));
  const auto call = to_completion(
      R"({"message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":{}}}]},"done":true})",
      identity);
  ASSERT_TRUE(call) << call.error().what;
  EXPECT_EQ(Json::parse(*call)["choices"][0]["message"]["content"], nullptr);
  EXPECT_EQ(Json::parse(*call)["choices"][0]["finish_reason"], "tool_calls");
  for (const char* broken : {"", "[]", "{", "{}", R"({"done":false})", R"({"error":"no"})"}) {
    const auto none = to_completion(broken, identity);
    ASSERT_FALSE(none) << broken;
    EXPECT_EQ(none.error().code, Errc::upstream_failed);
  }
}

TEST(FromOllama, WordsErrorsAsOpenAiDoes) {
  const Json error = Json::parse(to_error(400, R"({"error":"model 'x' not found"})"))["error"];
  EXPECT_EQ(error["message"], "model 'x' not found");
  EXPECT_EQ(error["type"], "invalid_request_error");
  EXPECT_EQ(Json::parse(to_error(502, "<html>"))["error"]["message"], "the server answered with status 502");
  EXPECT_EQ(Json::parse(to_error(500, "plain words"))["error"]["message"], "plain words");
}

TEST(FromOllama, FindsTheRenderedPrompt) {
  EXPECT_EQ(rendered_in(R"({"_debug_info":{"rendered_template":"<|im_start|>"}})").value_or("?"),
            "<|im_start|>");
  const auto none = rendered_in(R"({"message":{"content":"x"},"done":true})");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::unsupported);
}

TEST(LineReader, FindsLinesHoweverTheyAreCut) {
  const std::string text = "{\"a\":1}\r\n\n{\"b\":2}\n{\"c\"";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    LineReader reader;
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size(); at += step) {
      ASSERT_TRUE(reader.add(std::string_view(text).substr(at, step)));
      while (const auto line = reader.next()) lines.emplace_back(*line);
    }
    EXPECT_EQ(lines, (std::vector<std::string>{"{\"a\":1}", "{\"b\":2}"}));
    EXPECT_EQ(reader.rest(), "{\"c\"");
  }
}

TEST(LineReader, EndsALineThatDoesNotEnd) {
  LineReader reader;
  const std::string piece(1'000'000, 'x');
  std::size_t taken = 0;
  while (taken < 100 && reader.add(piece)) {
    EXPECT_FALSE(reader.next());
    ++taken;
  }
  EXPECT_EQ(taken, 32U);
}

}  // namespace
}  // namespace plimsoll::ollama
