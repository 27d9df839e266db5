#include "adapters/anthropic/to_anthropic.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace plimsoll::anthropic {
namespace {

using Json = nlohmann::json;

UpstreamRequest asking(std::string body, bool refuse = true) {
  UpstreamRequest request;
  request.body = std::move(body);
  request.model = "claude-sonnet-4-5";
  request.refuse_inexpressible = refuse;
  return request;
}

Json translated(std::string body) {
  const auto result = to_anthropic(asking(std::move(body)));
  EXPECT_TRUE(result) << result.error().what;
  return result ? Json::parse(result->body) : Json();
}

// A chat with one message and these fields.
std::string with(const std::string& fields) {
  return R"({"messages":[{"role":"user","content":"hi"}],)" + fields + "}";
}

TEST(ToAnthropic, SendsWhatTheApiRequires) {
  UpstreamRequest request = asking(R"({"model":"x","messages":[{"role":"user","content":"hi"}]})");
  request.stream = true;
  const auto result = to_anthropic(request);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(Json::parse(result->body), Json::parse(R"({"model":"claude-sonnet-4-5","max_tokens":4096,
    "messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"stream":true})"));
  request.answer = 700;
  EXPECT_EQ(Json::parse(to_anthropic(request)->body)["max_tokens"], 700);
}

TEST(ToAnthropic, LimitsTheAnswer) {
  EXPECT_EQ(translated(with(R"("max_tokens":5)"))["max_tokens"], 5);
  EXPECT_EQ(translated(with(R"("max_tokens":5,"max_completion_tokens":9)"))["max_tokens"], 9);
  // Plans have thinking beside the answer, Anthropic's limit includes it.
  const Json body =
      translated(with(R"("max_tokens":5000,"thinking":{"type":"enabled","budget_tokens":2000})"));
  EXPECT_EQ(body["max_tokens"], 7000);
  EXPECT_EQ(body["thinking"], Json::parse(R"({"type":"enabled","budget_tokens":2000})"));
  EXPECT_EQ(translated(with(R"("thinking":{"type":"enabled","budget_tokens":2000})"))["max_tokens"], 4096);
  EXPECT_EQ(translated(with(R"("thinking":{"type":"enabled","budget_tokens":6000})"))["max_tokens"], 10096);
  EXPECT_EQ(translated(with(R"("reasoning":{"max_tokens":1024})"))["thinking"],
            Json::parse(R"({"type":"enabled","budget_tokens":1024})"));
}

TEST(ToAnthropic, TranslatesSettings) {
  const Json body = translated(with(R"("temperature":0.2,"top_p":0.9,"top_k":40,"stop":"END","user":"ann",
    "stream_options":{"include_usage":true},"n":1,"logit_bias":{},"frequency_penalty":0,"presence_penalty":null,
    "logprobs":false,"response_format":{"type":"text"},"reasoning_effort":"none","service_tier":"auto",
    "cache_control":{"type":"ephemeral"},"output_config":{"effort":"low"})"));
  EXPECT_EQ(body, Json::parse(R"({"model":"claude-sonnet-4-5","max_tokens":4096,
    "messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"temperature":0.2,"top_p":0.9,"top_k":40,
    "stop_sequences":["END"],"metadata":{"user_id":"ann"},"cache_control":{"type":"ephemeral"},
    "output_config":{"effort":"low"}})"));
  EXPECT_EQ(translated(with(R"("stop":["A","B"],"metadata":{"user_id":"bob"})"))["stop_sequences"],
            Json::parse(R"(["A","B"])"));
  EXPECT_EQ(translated(with(R"("metadata":{"user_id":"bob"})"))["metadata"]["user_id"], "bob");
}

TEST(ToAnthropic, MovesSystemMessagesToTheirField) {
  EXPECT_EQ(translated(R"({"messages":[{"role":"system","content":"Be brief."},
    {"role":"developer","content":[{"type":"text","text":"Be"},{"type":"text","text":"kind."}]},
    {"role":"user","content":"hi"}]})")["system"],
            "Be brief.\n\nBe\nkind.");
  EXPECT_EQ(translated(R"({"messages":[
    {"role":"system","content":[{"type":"text","text":"A","cache_control":{"type":"ephemeral"}}]},
    {"role":"user","content":"hi"},{"role":"system","content":"B"}]})")["system"],
            Json::parse(R"([{"type":"text","text":"A","cache_control":{"type":"ephemeral"}},
    {"type":"text","text":"B"}])"));
}

TEST(ToAnthropic, MakesTurnsAlternate) {
  const Json body = translated(R"({"messages":[
    {"role":"user","content":"one"},{"role":"user","content":[{"type":"text","text":"two"},{"type":"text","text":" "}]},
    {"role":"assistant","content":"three"},{"role":"assistant","content":""},{"role":"assistant","content":"four"},
    {"role":"user","content":"five","cache_control":{"type":"ephemeral"}}]})");
  EXPECT_EQ(body["messages"], Json::parse(R"([
    {"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]},
    {"role":"assistant","content":[{"type":"text","text":"three"},{"type":"text","text":"four"}]},
    {"role":"user","content":[{"type":"text","text":"five","cache_control":{"type":"ephemeral"}}]}])"));
}

TEST(ToAnthropic, TranslatesToolsAndTheirResults) {
  const Json body = translated(R"({"messages":[{"role":"user","content":"look"},
    {"role":"assistant","content":null,"reasoning_content":"hm",
     "thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"thinking","thinking":"unsigned"},
       {"type":"redacted_thinking","data":"xx"}],
     "tool_calls":[{"id":"functions.look:0","type":"function","function":{"name":"look","arguments":"{\"z\":1,\"a\":[2]}"}},
       {"type":"function","function":{"name":"ask","arguments":""}}]},
    {"role":"tool","tool_call_id":"functions.look:0","name":"look","content":"a ship"},
    {"role":"user","content":"well?"},
    {"role":"tool","content":[{"type":"text","text":"no"}],"is_error":true,"cache_control":{"type":"ephemeral"}}],
    "tools":[{"type":"function","function":{"name":"look","description":"Looks.","strict":true,
      "parameters":{"type":"object","properties":{}}},"cache_control":{"type":"ephemeral"}},
      {"type":"function","function":{"name":"ask"}}],
    "tool_choice":"required","parallel_tool_calls":false})");
  EXPECT_EQ(body["messages"][1], Json::parse(R"({"role":"assistant","content":[
    {"type":"thinking","thinking":"hm","signature":"sig"},{"type":"redacted_thinking","data":"xx"},
    {"type":"tool_use","id":"functions_look_0","name":"look","input":{"z":1,"a":[2]}},
    {"type":"tool_use","id":"call_1_3","name":"ask","input":{}}]})"));
  EXPECT_EQ(body["messages"][2], Json::parse(R"({"role":"user","content":[
    {"type":"tool_result","tool_use_id":"functions_look_0","content":[{"type":"text","text":"a ship"}]},
    {"type":"tool_result","tool_use_id":"call_1_3","content":[{"type":"text","text":"no"}],"is_error":true,
     "cache_control":{"type":"ephemeral"}},
    {"type":"text","text":"well?"}]})"));
  EXPECT_EQ(body["messages"].size(), 3U);
  EXPECT_EQ(body["tools"], Json::parse(R"([{"name":"look","description":"Looks.",
    "input_schema":{"type":"object","properties":{}},"cache_control":{"type":"ephemeral"}},
    {"name":"ask","input_schema":{"type":"object"}}])"));
  EXPECT_EQ(body["tool_choice"], Json::parse(R"({"type":"any","disable_parallel_tool_use":true})"));
}

TEST(ToAnthropic, ChoosesTools) {
  const std::string tools = R"("tools":[{"type":"function","function":{"name":"f"}}],)";
  const std::pair<const char*, const char*> cases[] = {
      {R"("tool_choice":"auto")", R"({"type":"auto"})"},
      {R"("tool_choice":"none","parallel_tool_calls":false)", R"({"type":"none"})"},
      {R"("tool_choice":{"type":"function","function":{"name":"f"}})", R"({"type":"tool","name":"f"})"},
      {R"("parallel_tool_calls":false)", R"({"type":"auto","disable_parallel_tool_use":true})"}};
  for (const auto& [fields, choice] : cases)
    EXPECT_EQ(translated(with(tools + fields))["tool_choice"], Json::parse(choice)) << fields;
  EXPECT_FALSE(translated(with(tools + R"("parallel_tool_calls":true)")).contains("tool_choice"));
  EXPECT_FALSE(translated(with(R"("tools":[],"tool_choice":"auto")")).contains("tool_choice"));
}

TEST(ToAnthropic, TranslatesImagesAndDocuments) {
  const Json body = translated(R"({"messages":[{"role":"user","content":[
    {"type":"image_url","image_url":{"url":"data:image/PNG;base64,AAAA","detail":"low"}},
    {"type":"image_url","image_url":"https://host/a.jpg"},
    {"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,BBBB"},
     "cache_control":{"type":"ephemeral"}}]}]})");
  EXPECT_EQ(body["messages"][0]["content"], Json::parse(R"([
    {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},
    {"type":"image","source":{"type":"url","url":"https://host/a.jpg"}},
    {"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"BBBB"},"title":"a.pdf",
     "cache_control":{"type":"ephemeral"}}])"));
}

TEST(ToAnthropic, RefusesOrNamesWhatCannotBeExpressed) {
  const std::string parts = R"("messages":[{"role":"user","content":[{"type":"text","text":"x"},)";
  const std::pair<std::string, const char*> cases[] = {
      {with(R"("n":2)"), "n"},
      {with(R"("seed":7)"), "seed"},
      {with(R"("logprobs":true)"), "logprobs"},
      {with(R"("temperature":1.5)"), "temperature (only 0 to 1)"},
      {with(R"("frequency_penalty":0.5)"), "frequency_penalty"},
      {with(R"("response_format":{"type":"json_schema","json_schema":{"schema":{}}})"), "response_format"},
      {with(R"("reasoning_effort":"high")"), "reasoning_effort"},
      {with(R"("reasoning":{"effort":"high"})"), "reasoning"},
      {with(R"("guided_regex":"a+")"), "guided_regex"},
      {with(R"("tools":[{"type":"web_search"}])"), "tools.web_search"},
      {with(
           R"("tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":{"type":"allowed_tools"})"),
       "tool_choice"},
      {R"({"messages":[{"role":"user","content":"x","name":"ann"}]})", "messages.name"},
      {R"({"messages":[{"role":"user","content":"x"},{"role":"function","content":"x"}]})",
       "messages.role.function"},
      {"{" + parts + R"({"type":"image_url","image_url":{"url":"file:///x.png"}}]}]})",
       "messages.content.image_url"},
      {"{" + parts + R"({"type":"file","file":{"file_id":"file-1"}}]}]})", "messages.content.file"},
      {"{" + parts + R"({"type":"input_audio","input_audio":{}}]}]})", "messages.content.input_audio"}};
  for (const auto& [body, name] : cases) {
    const auto refused = to_anthropic(asking(body));
    ASSERT_FALSE(refused) << body;
    EXPECT_EQ(refused.error().code, Errc::bad_input);
    EXPECT_NE(refused.error().what.find(name), std::string::npos) << refused.error().what;
    EXPECT_NE(refused.error().what.find("refuse_inexpressible = false"), std::string::npos)
        << refused.error().what;
    const auto warned = to_anthropic(asking(body, false));
    ASSERT_TRUE(warned) << warned.error().what;
    EXPECT_EQ(warned->left_out, std::vector<std::string>{name});
  }
}

TEST(ToAnthropic, SaysWhatIsWrongWithARequest) {
  for (const char* body :
       {"", "[]", "{", "{}", R"({"messages":"x"})", R"({"messages":[]})", R"({"messages":[1]})",
        R"({"messages":[{}]})", R"({"messages":[{"role":"user","content":5}]})",
        R"({"messages":[{"role":"system","content":"x"}]})",
        R"({"messages":[{"role":"user","content":" "}]})",
        R"({"messages":[{"role":"assistant","tool_calls":[1]}]})",
        R"({"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"x"}}]}]})"}) {
    const auto result = to_anthropic(asking(body, false));
    ASSERT_FALSE(result) << body;
    EXPECT_EQ(result.error().code, Errc::bad_input) << result.error().what;
  }
  EXPECT_FALSE(to_anthropic(asking(std::string(100'000, '['))));
}

}  // namespace
}  // namespace plimsoll::anthropic
