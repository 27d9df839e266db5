#include "adapters/anthropic/from_anthropic.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "adapters/anthropic/event_reader.hpp"

namespace plimsoll::anthropic {
namespace {

using Json = nlohmann::json;

const Identity identity{"chatcmpl-77", 1234, "m"};

// The JSON of every event; [DONE] must be the last.
std::vector<Json> events_of(std::initializer_list<const char*> data) {
  EventWriter writer(identity);
  std::string text;
  for (const char* one : data) {
    const auto taken = writer.take(one, text);
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

Json delta_of(const Json& event) {
  return event["choices"][0]["delta"];
}

constexpr const char* start =
    R"({"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[],
        "usage":{"input_tokens":20,"cache_creation_input_tokens":5,"cache_read_input_tokens":100,"output_tokens":1}}})";
constexpr const char* stop = R"({"type":"message_stop"})";

TEST(FromAnthropic, MakesChunksOfEvents) {
  const auto events = events_of(
      {start, R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})",
       R"({"type":"ping"})",
       R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}})",
       R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" you"}})",
       R"({"type":"content_block_stop","index":0})",
       R"({"type":"message_delta","delta":{"stop_reason":"stop_sequence","stop_sequence":"X"},"usage":{"output_tokens":4}})",
       R"({"type":"something_new"})", stop});
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[0]["id"], "msg_1");
  EXPECT_EQ(events[0]["object"], "chat.completion.chunk");
  EXPECT_EQ(events[0]["created"], 1234);
  EXPECT_EQ(events[0]["model"], "m");
  EXPECT_EQ(delta_of(events[0]), Json::parse(R"({"role":"assistant","content":""})"));
  EXPECT_EQ(delta_of(events[1]), Json::parse(R"({"content":"Hello"})"));
  EXPECT_EQ(events[1]["choices"][0]["finish_reason"], nullptr);
  EXPECT_EQ(delta_of(events[2])["content"], " you");
  EXPECT_EQ(events[3]["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(events[3]["choices"][0]["stop_reason"], "X");
  EXPECT_EQ(events[4]["choices"], Json::array());
  EXPECT_EQ(events[4]["usage"], Json::parse(R"({"prompt_tokens":125,"completion_tokens":4,"total_tokens":129,
              "prompt_tokens_details":{"cached_tokens":100,"cache_creation_tokens":5}})"));
}

TEST(FromAnthropic, StreamsToolCalls) {
  const auto events = events_of(
      {start,
       R"({"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_a","name":"f","input":{}}})",
       R"({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}})",
       R"({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"z\":"}})",
       R"({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"1}"}})",
       R"({"type":"content_block_stop","index":0})",
       R"({"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_b","name":"g","input":{}}})",
       R"({"type":"content_block_stop","index":1})",
       R"({"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}})", stop});
  ASSERT_EQ(events.size(), 8U);
  EXPECT_EQ(
      delta_of(events[1])["tool_calls"][0],
      Json::parse(R"({"index":0,"id":"toolu_a","type":"function","function":{"name":"f","arguments":""}})"));
  EXPECT_EQ(delta_of(events[2])["tool_calls"][0],
            Json::parse(R"({"index":0,"function":{"arguments":"{\"z\":"}})"));
  EXPECT_EQ(delta_of(events[3])["tool_calls"][0]["function"]["arguments"], "1}");
  EXPECT_EQ(delta_of(events[4])["tool_calls"][0]["index"], 1);
  EXPECT_EQ(delta_of(events[5])["tool_calls"][0]["function"]["arguments"], "{}")
      << "a call without arguments is complete JSON too";
  EXPECT_EQ(events[6]["choices"][0]["finish_reason"], "tool_calls");
}

TEST(FromAnthropic, StreamsThoughtsWithTheirSignatures) {
  const auto events = events_of(
      {start,
       R"({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}})",
       R"({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}})",
       R"({"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}})",
       R"({"type":"content_block_stop","index":0})",
       R"({"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"xx"}})",
       R"({"type":"content_block_stop","index":1})",
       R"({"type":"message_delta","delta":{"stop_reason":"max_tokens"}})", stop});
  EXPECT_EQ(delta_of(events[1]), Json::parse(R"({"reasoning_content":"hm"})"));
  EXPECT_EQ(delta_of(events[2]),
            Json::parse(R"({"thinking_blocks":[{"type":"thinking","thinking":"","signature":"sig"}]})"));
  EXPECT_EQ(delta_of(events[3]),
            Json::parse(R"({"thinking_blocks":[{"type":"redacted_thinking","data":"xx"}]})"));
  EXPECT_EQ(events[4]["choices"][0]["finish_reason"], "length");
}

TEST(FromAnthropic, PassesAnErrorWithinAStreamOn) {
  const auto events =
      events_of({start, R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})"});
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[1]["error"]["message"], "Overloaded");
  EXPECT_EQ(events[1]["error"]["type"], "overloaded_error");
}

TEST(FromAnthropic, RefusesWhatIsNoEvent) {
  for (const char* broken : {"", "[]", "{", "7"}) {
    EventWriter writer(identity);
    std::string text;
    const auto taken = writer.take(broken, text);
    ASSERT_FALSE(taken) << broken;
    EXPECT_EQ(taken.error().code, Errc::upstream_failed);
  }
}

TEST(FromAnthropic, MarksANativeEventThatIsNotWhole) {
  const auto is_broken = [](std::string_view data) {
    AnswerEvent event{data, data};
    native_form().read_event(event);
    return event.is_broken;
  };
  const std::string delta =
      R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}})";
  for (const std::string& sound : {std::string(), std::string(stop), delta})
    EXPECT_FALSE(is_broken(sound)) << sound;
  for (const std::string& broken :
       {delta.substr(0, delta.size() - 1), delta.substr(0, 40), std::string("[]")})
    EXPECT_TRUE(is_broken(broken)) << broken;
}

TEST(FromAnthropic, MakesOneCompletion) {
  const auto text = to_completion(
      R"({"id":"msg_1","type":"message","role":"assistant","content":[
          {"type":"thinking","thinking":"hm","signature":"sig"},{"type":"text","text":"Let me "},
          {"type":"text","text":"look."},{"type":"tool_use","id":"toolu_a","name":"f","input":{"z":1,"a":2}}],
          "stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}})",
      identity);
  ASSERT_TRUE(text) << text.error().what;
  const Json completion = Json::parse(*text);
  EXPECT_EQ(completion["id"], "msg_1");
  EXPECT_EQ(completion["object"], "chat.completion");
  EXPECT_EQ(completion["model"], "m");
  EXPECT_EQ(completion["choices"][0]["message"],
            Json::parse(R"({"role":"assistant","content":"Let me look.","reasoning_content":"hm",
              "thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"sig"}],
              "tool_calls":[{"id":"toolu_a","type":"function","function":{"name":"f","arguments":"{\"z\":1,\"a\":2}"}}]})"));
  EXPECT_EQ(completion["choices"][0]["finish_reason"], "tool_calls");
  EXPECT_EQ(completion["usage"]["total_tokens"], 4);
  const std::pair<const char*, const char*> reasons[] = {
      {"end_turn", "stop"},          {"stop_sequence", "stop"}, {"max_tokens", "length"},
      {"refusal", "content_filter"}, {"pause_turn", "stop"},    {"model_context_window_exceeded", "length"}};
  for (const auto& [theirs, ours] : reasons) {
    const auto one = to_completion(fmt::format(R"({{"content":[],"stop_reason":"{}"}})", theirs), identity);
    ASSERT_TRUE(one) << one.error().what;
    EXPECT_EQ(Json::parse(*one)["choices"][0]["finish_reason"], ours);
    EXPECT_FALSE(Json::parse(*one).contains("usage")) << "the server reported none";
  }
  for (const char* broken : {"", "[]", "{", "{}", R"({"content":"x"})", R"({"error":"no"})"}) {
    const auto none = to_completion(broken, identity);
    ASSERT_FALSE(none) << broken;
    EXPECT_EQ(none.error().code, Errc::upstream_failed);
  }
}

TEST(FromAnthropic, WordsErrorsAsOpenAiDoes) {
  const Json error = Json::parse(to_error(
      401, R"({"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}})"));
  EXPECT_EQ(error["error"], Json::parse(R"({"message":"invalid x-api-key","type":"authentication_error",
    "param":null,"code":null})"));
  EXPECT_EQ(Json::parse(to_error(404, R"({"error":"gone"})"))["error"]["type"], "invalid_request_error");
  EXPECT_EQ(Json::parse(to_error(502, "<html>"))["error"]["message"], "the server answered with status 502");
  EXPECT_EQ(Json::parse(to_error(500, "plain words"))["error"]["message"], "plain words");
}

TEST(EventReader, FindsEventsHoweverTheyAreCut) {
  const std::string text =
      ": comment\r\nevent: a\r\ndata: {\"a\":1}\r\n\r\n\n\ndata:{\"b\":\ndata:  2}\n\nevent: c\ndata: {\"c\"";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    EventReader reader;
    std::vector<std::string> events;
    for (std::size_t at = 0; at < text.size(); at += step) {
      ASSERT_TRUE(reader.add(std::string_view(text).substr(at, step)));
      while (auto event = reader.next()) events.push_back(*std::move(event));
    }
    EXPECT_EQ(events, (std::vector<std::string>{"{\"a\":1}", "{\"b\":\n 2}"}));
    EXPECT_EQ(reader.last(), "{\"c\"");
    EXPECT_EQ(reader.last(), std::nullopt);
  }
}

TEST(EventReader, EndsAnEventThatDoesNotEnd) {
  for (const char* end : {"", "\n"}) {
    EventReader reader;
    const std::string piece = "data:" + std::string(1'000'000, 'x') + end;
    std::size_t taken = 0;
    while (taken < 100 && reader.add(piece)) {
      EXPECT_FALSE(reader.next());
      ++taken;
    }
    EXPECT_GE(taken, 31U);
    EXPECT_LE(taken, 33U);
  }
}

}  // namespace
}  // namespace plimsoll::anthropic
