// The protocol, with a tool that only echoes.
#include <random>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "gateway/mcp/mcp.hpp"
#include "gateway/mcp/mcp_lines.hpp"
#include "gateway/mcp/mcp_schema.hpp"

namespace plimsoll::gateway {
namespace {

McpServer echo_server() {
  const Json schema = Json::parse(R"({"type": "object", "required": ["say"], "additionalProperties": false,
      "properties": {"say": {"type": "string"}, "times": {"type": "integer", "minimum": 1, "maximum": 9}}})");
  McpTool echo{"echo",
               "Echo",
               "Says it again.",
               schema,
               Json::parse(R"({"type": "object"})"),
               [](const Json& arguments, const McpSession&) -> Result<Json> {
                 if (arguments["say"] == "fail") return fail(Errc::not_found, "nothing at 42");
                 if (arguments["say"] == "throw") throw std::runtime_error("boom");
                 return Json{{"said", arguments["say"]}, {"times", arguments.value("times", 1)}};
               }};
  return {"test", "Test", "1.2.3", "Say it.", {echo}};
}

class Mcp : public testing::Test {
 protected:
  std::string raw(std::string_view line) {
    return answer_mcp(server_, session_, line).value_or(McpAnswer{}).text;
  }
  Json ask(std::string_view line) {
    const std::string reply = raw(line);
    EXPECT_FALSE(reply.empty()) << line;
    EXPECT_EQ(reply.find('\n'), std::string::npos);
    return Json::parse(reply, nullptr, false);
  }
  Json start(const std::string& version) {
    return ask(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" + version +
               R"(","capabilities":{},"clientInfo":{"name":"t","version":"1"}}})")["result"];
  }
  Json call(std::string_view arguments) {
    return ask(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":)" +
               std::string(arguments) + "}}");
  }
  McpServer server_ = echo_server();
  McpSession session_;
};

TEST_F(Mcp, AgreesOnAVersion) {
  for (const std::string_view version : mcp_versions()) {
    const Json result = start(std::string(version));
    EXPECT_EQ(result["protocolVersion"], version);
    EXPECT_EQ(result["serverInfo"]["name"], "test");
    EXPECT_EQ(result["serverInfo"]["version"], "1.2.3");
    EXPECT_EQ(result["serverInfo"].contains("title"), version >= "2025-06-18") << version;
    EXPECT_TRUE(result["capabilities"].contains("tools"));
    EXPECT_FALSE(result["capabilities"].contains("resources"));
    EXPECT_EQ(result["instructions"], "Say it.");
  }
  EXPECT_EQ(start("2099-01-01")["protocolVersion"], mcp_versions().back()) << "the newest that we know";
  EXPECT_EQ(start("")["protocolVersion"], mcp_versions().back());
}

TEST_F(Mcp, AnswersNothingToNotificationsAndReplies) {
  for (const char* line :
       {R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})",
        R"({"jsonrpc":"2.0","method":"no/such"})", R"({"jsonrpc":"2.0","id":3,"result":{}})",
        R"({"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"x"}})", "", "  ", "\t"})
    EXPECT_EQ(raw(line), "") << line;
}

TEST_F(Mcp, RefusesWhatIsMalformedWithTheRightCode) {
  const std::tuple<const char*, int, Json> cases[] = {
      {"{", -32700, nullptr},
      {"hello", -32700, nullptr},
      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xFFng\"}", -32700, nullptr},
      {"1", -32600, nullptr},
      {"\"ping\"", -32600, nullptr},
      {"null", -32600, nullptr},
      {"{}", -32600, nullptr},
      {R"({"id":1,"method":"ping"})", -32600, 1},
      {R"({"jsonrpc":"1.0","id":"a","method":"ping"})", -32600, "a"},
      {R"({"jsonrpc":"2.0","id":1})", -32600, 1},
      {R"({"jsonrpc":"2.0","id":1,"method":7})", -32600, 1},
      {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", -32600, nullptr},
      {R"({"jsonrpc":"2.0","id":[1],"method":"ping"})", -32600, nullptr},
      {R"({"jsonrpc":"2.0","id":1,"method":"resources/list"})", -32601, 1},
      {R"({"jsonrpc":"2.0","id":1,"method":"server/discover"})", -32601, 1},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[1]})", -32602, 1},
      {R"({"jsonrpc":"2.0","id":1,"method":"initialize"})", -32602, 1},
      {R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}})", -32602, 1},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"2"}})", -32602, 1},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/call"})", -32602, 1},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"gone"}})", -32602, 1},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":[]}})", -32602,
       1},
  };
  for (const auto& [line, code, id] : cases) {
    const Json reply = ask(line);
    EXPECT_EQ(reply["error"]["code"], code) << line;
    EXPECT_EQ(reply["id"], id) << line;
    EXPECT_EQ(reply["jsonrpc"], "2.0") << line;
    EXPECT_FALSE(reply["error"]["message"].get<std::string>().empty()) << line;
  }
  EXPECT_EQ(Json::parse(answer_mcp_too_long(64 << 20))["error"]["code"], -32600);
}

TEST_F(Mcp, RefusesWhatIsNestedTooDeep) {
  const std::string deep(100'000, '[');
  EXPECT_EQ(ask(deep)["error"]["code"], -32700);
  const std::string brackets_in_text =
      R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(500, '[') + "\\\"\"}";
  EXPECT_EQ(ask(brackets_in_text)["error"]["code"], -32601) << "brackets inside a text are no nesting";
}

TEST_F(Mcp, PingsBackWithTheSameId) {
  EXPECT_EQ(raw(R"({"jsonrpc":"2.0","id":"x-1","method":"ping"})"),
            R"({"jsonrpc":"2.0","id":"x-1","result":{}})");
  EXPECT_EQ(raw(R"({"jsonrpc":"2.0","id":9007199254740993,"method":"ping"})"),
            R"({"jsonrpc":"2.0","id":9007199254740993,"result":{}})");
}

TEST_F(Mcp, ListsItsToolsAsTheVersionHasThem) {
  for (const std::string_view version : mcp_versions()) {
    start(std::string(version));
    const Json tools = ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})")["result"]["tools"];
    ASSERT_EQ(tools.size(), 1U);
    EXPECT_EQ(tools[0]["name"], "echo");
    EXPECT_EQ(tools[0]["inputSchema"]["type"], "object");
    EXPECT_EQ(tools[0].contains("annotations"), version >= "2025-03-26") << version;
    EXPECT_EQ(tools[0].contains("outputSchema"), version >= "2025-06-18") << version;
    EXPECT_EQ(tools[0].contains("title"), version >= "2025-06-18") << version;
  }
}

TEST_F(Mcp, CallsATool) {
  for (const std::string_view version : mcp_versions()) {
    start(std::string(version));
    const Json result = call(R"({"say":"ahoy","times":2})")["result"];
    EXPECT_EQ(result["isError"], false);
    ASSERT_EQ(result["content"].size(), 1U);
    EXPECT_EQ(result["content"][0]["type"], "text");
    EXPECT_EQ(result["content"][0]["text"], R"({"said":"ahoy","times":2})");
    EXPECT_EQ(result.contains("structuredContent"), version >= "2025-06-18") << version;
  }
  EXPECT_EQ(call(R"({"say":"ahoy","times":null})")["result"]["structuredContent"]["times"], 1)
      << "null is as good as left out";
}

TEST_F(Mcp, TellsAToolsFailureToTheModel) {
  const Json result = call(R"({"say":"fail"})")["result"];
  EXPECT_EQ(result["isError"], true);
  EXPECT_EQ(result["content"][0]["text"], "nothing at 42");
  EXPECT_FALSE(result.contains("structuredContent"));
  EXPECT_EQ(call(R"({"say":"throw"})")["error"]["code"], -32603);
  EXPECT_EQ(call(R"({"say":"still here"})")["result"]["isError"], false);
}

TEST_F(Mcp, SaysWhatIsWrongWithArguments) {
  start("2025-06-18");
  const Json old_reply = call(R"({"say":1})");
  EXPECT_EQ(old_reply["error"]["code"], -32602);
  EXPECT_EQ(old_reply["error"]["message"], "arguments.say must be a string, not 1");
  start("2025-11-25");
  const Json new_reply = call(R"({"say":1})");
  EXPECT_EQ(new_reply["result"]["isError"], true) << "so that the model can mend it";
  EXPECT_EQ(new_reply["result"]["content"][0]["text"], "arguments.say must be a string, not 1");
}

TEST_F(Mcp, TakesBatchesInTheOneVersionThatHasThem) {
  const char* batch =
      R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},
                         {"jsonrpc":"2.0","id":2,"method":"no/such"},7,
                         {"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}])";
  for (const std::string_view version : mcp_versions()) {
    start(std::string(version));
    const Json reply = ask(batch);
    if (version != "2025-03-26") {
      EXPECT_EQ(reply["error"]["code"], -32600) << version;
      continue;
    }
    ASSERT_EQ(reply.size(), 4U);
    EXPECT_EQ(reply[0]["result"], Json::object());
    EXPECT_EQ(reply[1]["error"]["code"], -32601);
    EXPECT_EQ(reply[2]["error"]["code"], -32600);
    EXPECT_EQ(reply[3]["error"]["code"], -32600) << "initialize stands alone";
    EXPECT_EQ(raw(R"([{"jsonrpc":"2.0","method":"notifications/x"}])"), "");
    EXPECT_EQ(ask("[]")["error"]["code"], -32600);
    std::string many = R"([{"jsonrpc":"2.0","id":0,"method":"ping"})";
    for (int i = 1; i < 32; ++i) many += R"(,{"jsonrpc":"2.0","id":1,"method":"ping"})";
    EXPECT_EQ(ask(many + "]").size(), 32U);
    EXPECT_EQ(ask(many + R"(,{"jsonrpc":"2.0","id":1,"method":"ping"}])")["error"]["code"], -32600);
  }
}

TEST(McpSchema, NamesThePlaceAndTheReason) {
  const Json schema =
      Json::parse(R"({"type":"object","required":["a"],"additionalProperties":false,"properties":{
      "a":{"type":"integer","minimum":0,"maximum":10},"b":{"type":"array","maxItems":2,"items":{"type":"string"}},
      "c":{"type":"string","enum":["x","y"]},"d":{"type":"boolean"},"e":{"type":"number"}}})");
  const std::pair<const char*, const char*> cases[] = {
      {R"({"a":1,"b":["p"],"c":"x","d":true,"e":1.5})", ""},
      {R"({"a":5.0})", ""},
      {R"({"a":1e1})", ""},
      {R"([])", "arguments must be an object, not an array"},
      {R"({})", "arguments.a is missing"},
      {R"({"a":"1"})", "arguments.a must be an integer, not \"1\""},
      {R"({"a":1.5})", "arguments.a must be an integer, not 1.5"},
      {R"({"a":true})", "arguments.a must be an integer, not true"},
      {R"({"a":-1})", "arguments.a must be at least 0, not -1"},
      {R"({"a":18446744073709551615})", "arguments.a must be at most 10, not 18446744073709551615"},
      {R"({"a":1e300})", "arguments.a must be at most 10, not 1e+300"},
      {R"({"a":1,"b":["p",2]})", "arguments.b[1] must be a string, not 2"},
      {R"({"a":1,"b":["p","q","r"]})", "arguments.b has 3 items; at most 2 are allowed"},
      {R"({"a":1,"c":"z"})", "arguments.c must be one of \"x\", \"y\", not \"z\""},
      {R"({"a":1,"f":1})", "arguments has no member \"f\"; known members: a, b, c, d, e"},
      {R"({"a":null})", "arguments.a must be an integer, not null"},
      {R"({"a":1,"b":null})", ""},
  };
  for (const auto& [value, expected] : cases) {
    const auto checked = check_schema(without_nulls(Json::parse(value), schema), schema);
    EXPECT_EQ(checked ? "" : checked.error().what, expected) << value;
  }
}

struct Heard {
  std::vector<std::string> lines;
  int too_long = 0;
};

void feed(Heard& heard, std::size_t limit, std::span<const std::string> parts) {
  McpLines lines(
      limit, [&](std::string_view line) { heard.lines.emplace_back(line); }, [&] { ++heard.too_long; });
  for (const std::string& part : parts) lines.feed(part);
  lines.finish();
}

TEST(McpLines, SplitsAndLeavesOutWhatIsTooLong) {
  Heard heard;
  const std::string parts[] = {"one\ntw", "o\r\n\n12345678\n123456", "789\nlast"};
  feed(heard, 8, parts);
  EXPECT_EQ(heard.lines, (std::vector<std::string>{"one", "two", "", "12345678", "last"}));
  EXPECT_EQ(heard.too_long, 1);
  Heard endless;
  const std::string flood[] = {std::string(100, 'x'), std::string(100, 'x')};
  feed(endless, 8, flood);
  EXPECT_TRUE(endless.lines.empty());
  EXPECT_EQ(endless.too_long, 1) << "also where no line end comes";
  Heard nothing;
  feed(nothing, 8, {});
  EXPECT_TRUE(nothing.lines.empty());
  EXPECT_EQ(nothing.too_long, 0);
}

// However the bytes arrive, the lines are the same.
TEST(McpLines, DoNotDependOnHowTheBytesArrive) {
  std::mt19937 rng{9};
  int cut = 0, over = 0;
  for (int round = 0; round < 5'000; ++round) {
    std::string text;
    for (std::size_t n = rng() % 60; n > 0; --n) text += "ab\r\n\n"[rng() % 5];
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + rng() % 7;
      parts.push_back(text.substr(at, size));
      at += size;
    }
    Heard whole, pieces;
    feed(whole, 4, std::span(&text, 1));
    feed(pieces, 4, parts);
    ASSERT_EQ(whole.lines, pieces.lines) << text;
    ASSERT_EQ(whole.too_long, pieces.too_long) << text;
    cut += parts.size() > 1 ? 1 : 0;
    over += whole.too_long;
  }
  EXPECT_GT(cut, 4'000);
  EXPECT_GT(over, 1'000);
}

}  // namespace
}  // namespace plimsoll::gateway
