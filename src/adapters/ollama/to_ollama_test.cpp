#include "adapters/ollama/to_ollama.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace plimsoll::ollama {
namespace {

using Json = nlohmann::json;

UpstreamRequest asking(std::string body, bool refuse = true) {
  UpstreamRequest request;
  request.body = std::move(body);
  request.model = "llama3.2:3b";
  request.refuse_inexpressible = refuse;
  return request;
}

Json translated(std::string body) {
  const auto result = to_ollama(asking(std::move(body)));
  EXPECT_TRUE(result) << result.error().what;
  return result ? Json::parse(result->body) : Json();
}

TEST(ToOllama, SetsTheWindowAndForbidsCutting) {
  UpstreamRequest request = asking(R"({"model":"x","messages":[{"role":"user","content":"hi"}]})");
  request.stream = true;
  request.load_window = 8192;
  const auto result = to_ollama(request);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(Json::parse(result->body), Json::parse(R"({"model":"llama3.2:3b",
    "messages":[{"role":"user","content":"hi"}],"stream":true,"truncate":false,"shift":false,
    "options":{"num_ctx":8192}})"));
}

TEST(ToOllama, PutsSettingsWhereOllamaLooksForThem) {
  const Json body = translated(R"({"messages":[],"temperature":0.2,"top_p":0.9,"seed":7,"stop":"END",
    "max_tokens":5,"max_completion_tokens":9,"presence_penalty":0.1,"frequency_penalty":null,"user":"ann",
    "stream_options":{"include_usage":true},"n":1,"logit_bias":{},"tool_choice":"auto","logprobs":true,
    "top_logprobs":2,"reasoning_effort":"high","keep_alive":"5m","response_format":{"type":"json_object"}})");
  EXPECT_EQ(body["options"], Json::parse(R"({"temperature":0.2,"top_p":0.9,"seed":7,"stop":["END"],
    "num_predict":9,"presence_penalty":0.1})"));
  EXPECT_EQ(body["format"], "json");
  EXPECT_EQ(body["think"], "high");
  EXPECT_EQ(body["keep_alive"], "5m");
  EXPECT_EQ(body["logprobs"], true);
  EXPECT_EQ(body["top_logprobs"], 2);
  EXPECT_FALSE(body.contains("user"));
  EXPECT_EQ(body["stream"], false);
  const Json schema = translated(
      R"({"messages":[],"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"}}}})");
  EXPECT_EQ(schema["format"], Json::parse(R"({"type":"object"})"));
}

TEST(ToOllama, TranslatesMessagesOfEveryKind) {
  const Json body = translated(R"({"messages":[
    {"role":"developer","content":"be brief"},
    {"role":"user","content":[{"type":"text","text":"a"},
      {"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}},{"type":"text","text":"b"}]},
    {"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[
      {"id":"call_1","type":"function","function":{"name":"look","arguments":"{\"z\":1,\"a\":[2]}"}}]},
    {"role":"tool","tool_call_id":"call_1","content":"found"}],
    "tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}]})");
  const Json& messages = body["messages"];
  EXPECT_EQ(messages[0], Json::parse(R"({"role":"system","content":"be brief"})"));
  EXPECT_EQ(messages[1], Json::parse(R"({"role":"user","content":"a\nb","images":["QUJD"]})"));
  EXPECT_EQ(messages[2], Json::parse(R"({"role":"assistant","content":"","thinking":"hm","tool_calls":[
    {"id":"call_1","function":{"index":0,"name":"look","arguments":{"z":1,"a":[2]}}}]})"));
  EXPECT_EQ(messages[3],
            Json::parse(R"({"role":"tool","content":"found","tool_call_id":"call_1","tool_name":"look"})"));
  EXPECT_EQ(body["tools"].size(), 1U);
  const auto text = to_ollama(asking(
      R"({"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{\"z\":1,\"a\":2}"}}]}]})"));
  ASSERT_TRUE(text);
  EXPECT_NE(text->body.find(R"({"z":1,"a":2})"), std::string::npos)
      << "the order of arguments is the model's";
}

TEST(ToOllama, SendsNoToolsWhereNoneMayBeCalled) {
  EXPECT_FALSE(
      translated(R"({"messages":[],"tools":[{"type":"function"}],"tool_choice":"none"})").contains("tools"));
}

TEST(ToOllama, RefusesOrNamesWhatOllamaCannotExpress) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"messages":[],"n":2})", "n"},
      {R"({"messages":[],"logit_bias":{"1":5}})", "logit_bias"},
      {R"({"messages":[],"audio":{"voice":"x"}})", "audio"},
      {R"({"messages":[],"parallel_tool_calls":false})", "parallel_tool_calls"},
      {R"({"messages":[],"tool_choice":"required"})", "tool_choice"},
      {R"({"messages":[],"tool_choice":{"type":"function","function":{"name":"f"}}})", "tool_choice"},
      {R"({"messages":[],"guided_regex":"a+"})", "guided_regex"},
      {R"({"messages":[],"response_format":{"type":"grammar"}})", "response_format"},
      {R"({"messages":[{"role":"user","content":"x","name":"ann"}]})", "messages.name"},
      {R"({"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"http://x/y.png"}}]}]})",
       "messages.content.image_url"},
      {R"({"messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{}}]}]})",
       "messages.content.input_audio"}};
  for (const auto& [body, name] : cases) {
    const auto refused = to_ollama(asking(body));
    ASSERT_FALSE(refused) << body;
    EXPECT_EQ(refused.error().code, Errc::bad_input);
    EXPECT_NE(refused.error().what.find(name), std::string::npos) << refused.error().what;
    EXPECT_NE(refused.error().what.find("refuse_inexpressible = false"), std::string::npos)
        << refused.error().what;
    const auto warned = to_ollama(asking(body, false));
    ASSERT_TRUE(warned) << warned.error().what;
    EXPECT_EQ(warned->left_out, std::vector<std::string>{name});
  }
}

TEST(ToOllama, SaysWhatIsWrongWithARequest) {
  for (const char* body :
       {"", "[]", "{", R"({"messages":"x"})", R"({"messages":[1]})", R"({"messages":[{}]})",
        R"({"messages":[{"role":"user","content":5}]})",
        R"({"messages":[{"role":"assistant","tool_calls":[1]}]})",
        R"({"messages":[{"role":"assistant","tool_calls":[{"function":{"arguments":"x"}}]}]})"}) {
    const auto result = to_ollama(asking(body, false));
    ASSERT_FALSE(result) << body;
    EXPECT_EQ(result.error().code, Errc::bad_input) << result.error().what;
  }
  EXPECT_FALSE(to_ollama(asking(std::string(100'000, '['))));
}

TEST(ToOllama, AsksForThePromptAlone) {
  UpstreamRequest request = asking(R"({"messages":[],"n":3})");
  request.stream = true;
  const auto result = to_ollama(request, Purpose::render);
  ASSERT_TRUE(result) << result.error().what;
  const Json body = Json::parse(result->body);
  EXPECT_EQ(body["_debug_render_only"], true);
  EXPECT_EQ(body["stream"], false);
  EXPECT_EQ(body["options"]["num_predict"], 1);
}

}  // namespace
}  // namespace plimsoll::ollama
