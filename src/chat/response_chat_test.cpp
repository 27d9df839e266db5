#include "chat/response_chat.hpp"

#include <gtest/gtest.h>

namespace plimsoll::chat {
namespace {

using Json = nlohmann::ordered_json;

Json chat_of(const char* request) {
  const Json body = Json::parse(request);
  return chat_of_response(body, items_of_input(body["input"]));
}

std::string beyond(const char* request) {
  const Json body = Json::parse(request);
  return beyond_a_chat(body, items_of_input(body["input"]));
}

TEST(ResponseChat, ATextIsAMessageOfTheUsers) {
  const Json chat =
      chat_of(R"({"model": "m", "instructions": "Be brief.", "input": "Ahoy", "temperature": 0.5,
                                "max_output_tokens": 9, "store": true, "metadata": {"a": "b"}, "top_k": 3})");
  EXPECT_EQ(chat, Json::parse(R"({"model": "m", "temperature": 0.5, "top_k": 3,
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Ahoy"}],
    "max_tokens": 9})"));
}

TEST(ResponseChat, ListedItemsHaveIdsAndListsOfContents) {
  const Json items = Json::parse(R"([{"role": "user", "content": "Ahoy"}, {"type": "message", "id": "msg_1",
    "role": "assistant", "content": [{"type": "output_text", "text": "Aye"}]},
    {"type": "function_call_output", "call_id": "c", "output": "7"}, 3])");
  EXPECT_EQ(listed_items(items, "resp_9"), Json::parse(R"([
    {"role": "user", "content": [{"type": "input_text", "text": "Ahoy"}], "type": "message",
     "id": "resp_9_item_1", "status": "completed"},
    {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "Aye"}]},
    {"type": "function_call_output", "call_id": "c", "output": "7", "id": "resp_9_item_3"}])"));
}

TEST(ResponseChat, ItemsBecomeMessages) {
  const Json chat = chat_of(R"({"input": [
    {"role": "developer", "content": "Rules"},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "What is this?"},
      {"type": "input_image", "image_url": "data:x", "detail": "low"}]},
    {"type": "reasoning", "id": "rs_1", "summary": []},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look"}]},
    {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
    {"type": "function_call", "call_id": "c2", "name": "smell", "arguments": "{\"a\":1}"},
    {"type": "function_call_output", "call_id": "c1", "output": "a ship"},
    {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "tar"}]},
    {"role": "user", "content": [{"type": "input_text", "text": "So?"}]}]})");
  EXPECT_EQ(chat["messages"], Json::parse(R"([
    {"role": "system", "content": "Rules"},
    {"role": "user", "content": [{"type": "text", "text": "What is this?"},
      {"type": "image_url", "image_url": {"url": "data:x", "detail": "low"}}]},
    {"role": "assistant", "content": "I look", "tool_calls": [
      {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}},
      {"id": "c2", "type": "function", "function": {"name": "smell", "arguments": "{\"a\":1}"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "a ship"},
    {"role": "tool", "tool_call_id": "c2", "content": "tar"},
    {"role": "user", "content": "So?"}])"));
}

TEST(ResponseChat, ToolsAndTheFormOfTheAnswerAreSaidAnew) {
  const Json chat = chat_of(R"({"input": "Ahoy", "stream": true, "truncation": "disabled",
    "tools": [{"type": "function", "name": "sound", "parameters": {"type": "object"}, "strict": true}],
    "tool_choice": {"type": "function", "name": "sound"}, "parallel_tool_calls": false,
    "reasoning": {"effort": "low"},
    "text": {"format": {"type": "json_schema", "name": "depth", "schema": {"type": "object"}, "strict": true}}})");
  EXPECT_EQ(chat["tools"], Json::parse(R"([{"type": "function", "function":
    {"name": "sound", "parameters": {"type": "object"}, "strict": true}}])"));
  EXPECT_EQ(chat["tool_choice"], Json::parse(R"({"type": "function", "function": {"name": "sound"}})"));
  EXPECT_EQ(chat["parallel_tool_calls"], false);
  EXPECT_EQ(chat["reasoning_effort"], "low");
  EXPECT_EQ(chat["response_format"], Json::parse(R"({"type": "json_schema", "json_schema":
    {"name": "depth", "schema": {"type": "object"}, "strict": true}})"));
  EXPECT_EQ(chat["stream_options"], Json::parse(R"({"include_usage": true})"));
  EXPECT_EQ(chat["plimsoll"]["policy"], "strict");
  EXPECT_FALSE(chat.contains("text") || chat.contains("reasoning") || chat.contains("truncation"));
}

TEST(ResponseChat, KnowsWhatAChatCannotSay) {
  EXPECT_EQ(beyond(R"({"input": "Ahoy", "tools": [{"type": "function", "name": "f"}]})"), "");
  EXPECT_EQ(beyond(R"({"input": [{"type": "reasoning", "content": [{"type": "reasoning_text"}]}]})"), "");
  EXPECT_EQ(beyond(R"({"input": "Ahoy", "tools": [{"type": "web_search"}]})"), "tools[0] (web_search)");
  EXPECT_EQ(beyond(R"({"input": "Ahoy", "tool_choice": {"type": "file_search"}})"),
            "tool_choice (file_search)");
  EXPECT_EQ(beyond(R"({"input": "Ahoy", "conversation": "conv_1"})"), "conversation");
  EXPECT_EQ(beyond(R"({"input": "Ahoy", "background": true})"), "background");
  EXPECT_EQ(beyond(R"({"input": [{"type": "item_reference", "id": "x"}]})"), "input[0] (item_reference)");
  EXPECT_EQ(beyond(R"({"input": [{"role": "user", "content": [{"type": "input_audio"}]}]})"),
            "input[0].content (input_audio)");
  EXPECT_EQ(beyond(R"({"input": [{"role": "user", "content": [{"text": "Q"}, {"type": "input_audio"}]}]})"),
            "input[0].content (without a type)");
  EXPECT_EQ(
      beyond(R"({"input": [{"type": "function_call_output", "call_id": "c", "output": [{"type": "odd"}]}]})"),
      "input[0].output (odd)");
}

}  // namespace
}  // namespace plimsoll::chat
