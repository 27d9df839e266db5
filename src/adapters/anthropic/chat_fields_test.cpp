#include "adapters/anthropic/chat_fields.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace plimsoll::anthropic {
namespace {

using Json = nlohmann::json;

TEST(ChatFields, AreRemovedWhereverTheyMayBe) {
  const std::string plain = without_chat_fields(R"({"model":"m","cache_control":{"type":"ephemeral"},
    "thinking":{"type":"enabled","budget_tokens":2000},"temperature":0.5,
    "tools":[{"type":"function","function":{"name":"f"},"cache_control":{"type":"ephemeral"}}],
    "messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]},
      {"role":"assistant","content":null,"thinking_blocks":[{"type":"thinking","thinking":"t","signature":"s"}],
       "tool_calls":[{"id":"c","cache_control":{"type":"ephemeral"}}]},
      {"role":"tool","tool_call_id":"c","content":"x","is_error":true,"cache_control":{"type":"ephemeral"}}]})");
  EXPECT_EQ(Json::parse(plain), Json::parse(R"({"model":"m","temperature":0.5,
    "tools":[{"type":"function","function":{"name":"f"}}],
    "messages":[{"role":"user","content":[{"type":"text","text":"a"}]},
      {"role":"assistant","content":null,"tool_calls":[{"id":"c"}]},
      {"role":"tool","tool_call_id":"c","content":"x"}]})"));
}

TEST(ChatFields, LeaveOtherChatsAsTheyAre) {
  for (const char* chat : {R"({ "messages": [ {"role": "user", "content": "cache_control"} ] })", "[]", "{",
                           "", R"({"messages":1,"tools":{}})", R"({"messages":[1,{"content":[2]}]})"})
    EXPECT_EQ(without_chat_fields(chat), chat);
}

}  // namespace
}  // namespace plimsoll::anthropic
