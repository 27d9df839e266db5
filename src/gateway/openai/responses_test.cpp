#include <gtest/gtest.h>

#include "gateway/openai/responses_answer.hpp"

namespace plimsoll::gateway {
namespace {

using Json = nlohmann::ordered_json;

Json opened(const Json& request) {
  return ResponsesAnswer::opening(request, "resp_1");
}

std::vector<Json> response_events(std::string_view out) {
  std::vector<Json> all;
  while (!out.empty()) {
    const std::size_t end = out.find("\n\n");
    const std::string_view event = out.substr(0, end);
    const std::size_t data = event.find("\ndata: ");
    all.push_back(Json::parse(event.substr(data + 7)));
    EXPECT_EQ(event.substr(0, data), "event: " + all.back()["type"].get<std::string>());
    EXPECT_EQ(all.back()["sequence_number"], all.size() - 1);
    out.remove_prefix(end + 2);
  }
  return all;
}

std::vector<std::string> response_types(const std::vector<Json>& events) {
  std::vector<std::string> types;
  for (const Json& event : events) types.push_back(event["type"].get<std::string>());
  return types;
}

using Types = std::vector<std::string>;

TEST(ResponsesAnswer, StreamsThoughtTextAndCalls) {
  Json kept;
  ResponsesAnswer answer(opened(Json{{"model", "m"}}), [&](const Json& response) {
    kept = response;
    return Result<void>();
  });
  std::string out;
  for (
      const char* data :
      {R"({"model": "m-1", "choices": [{"delta": {"role": "assistant", "content": ""}}]})",
       R"({"choices": [{"delta": {"reasoning_content": "Hm"}}]})",
       R"({"choices": [{"delta": {"content": "Ah"}}]})", R"({"choices": [{"delta": {"content": "oy"}}]})",
       R"({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": ""}}]}}]})",
       R"({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}}]})",
       R"({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})",
       R"({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}})"})
    answer.take(data, out);
  answer.finish(/*complete=*/true, out);
  const std::vector<Json> events = response_events(out);
  EXPECT_EQ(response_types(events),
            (Types{"response.created", "response.in_progress", "response.output_item.added",
                   "response.reasoning_text.delta", "response.reasoning_text.done",
                   "response.output_item.done", "response.output_item.added", "response.content_part.added",
                   "response.output_text.delta", "response.output_text.delta", "response.output_text.done",
                   "response.content_part.done", "response.output_item.done", "response.output_item.added",
                   "response.function_call_arguments.delta", "response.function_call_arguments.done",
                   "response.output_item.done", "response.completed"}));
  const Json& response = events.back()["response"];
  EXPECT_EQ(response, kept);
  EXPECT_EQ(response["model"], "m-1");
  EXPECT_EQ(response["status"], "completed");
  EXPECT_EQ(response["usage"]["input_tokens"], 7);
  ASSERT_EQ(response["output"].size(), 3U);
  EXPECT_EQ(response["output"][1]["content"][0]["text"], "Ahoy");
  EXPECT_EQ(response["output"][2]["call_id"], "c");
  EXPECT_EQ(response["output"][2]["arguments"], "{}");
}

TEST(ResponsesAnswer, AWholeCompletionIsTheSameAsItsStream) {
  const char* completion = R"({"model": "m", "choices": [{"message": {"role": "assistant", "content": "Ahoy"},
    "finish_reason": "length"}], "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}})";
  ResponsesAnswer one(opened(Json{{"model", "m"}}), nullptr), other(opened(Json{{"model", "m"}}), nullptr);
  Trace trace;
  trace.id = "t";
  const Plan plan;
  const engine::AnswerReport report{.trace = trace, .plan = plan};
  one.tell(report);
  other.tell(report);
  const Json whole = Json::parse(one.whole(completion, /*streams=*/false).value());
  const std::vector<Json> events = response_events(other.whole(completion, /*streams=*/true).value());
  EXPECT_EQ(events.back()["type"], "response.incomplete");
  EXPECT_EQ(events.back()["response"], whole);
  EXPECT_EQ(whole["incomplete_details"]["reason"], "max_output_tokens");
  EXPECT_EQ(whole["output"][0]["content"][0]["text"], "Ahoy");
  EXPECT_EQ(whole["plimsoll"]["trace"], "t");
  EXPECT_EQ(whole["store"], false);
  EXPECT_FALSE(ResponsesAnswer(opened(Json::object()), nullptr).whole("[]", false));
}

TEST(ResponsesAnswer, SaysThatAStreamFailedOrBrokeOff) {
  ResponsesAnswer failed(opened(Json::object()), nullptr), broken(opened(Json::object()), nullptr);
  std::string out;
  failed.take(R"({"choices": [{"delta": {"content": "A"}}]})", out);
  failed.take(R"({"error": {"message": "gone"}})", out);
  failed.take(R"({"choices": [{"delta": {"content": "B"}}]})", out);
  failed.finish(/*complete=*/true, out);
  Json last = response_events(out).back();
  EXPECT_EQ(last["type"], "response.failed");
  EXPECT_EQ(last["response"]["error"]["message"], "gone");
  out.clear();
  broken.take(R"({"choices": [{"delta": {"content": "A"}}]})", out);
  broken.finish(/*complete=*/false, out);
  last = response_events(out).back();
  EXPECT_EQ(last["type"], "response.failed");
  EXPECT_EQ(last["response"]["status"], "failed");
}

TEST(ResponsesAnswer, AnEmptyAnswerBeginsAndEnds) {
  ResponsesAnswer answer(opened(Json::object()), nullptr);
  std::string out;
  answer.finish(/*complete=*/true, out);
  EXPECT_EQ(response_types(response_events(out)),
            (Types{"response.created", "response.in_progress", "response.completed"}));
}

TEST(ResponsesAnswer, OnlyWhatWasOpenAtTheLimitIsIncomplete) {
  ResponsesAnswer answer(opened(Json::object()), nullptr);
  std::string out;
  answer.take(R"({"choices": [{"delta": {"reasoning": "Hm"}}]})", out);
  answer.take(R"({"choices": [{"delta": {"content": "A"}}]})", out);
  answer.take(R"({"choices": [{"delta": {}, "finish_reason": "length"}]})", out);
  answer.finish(/*complete=*/false, out);
  const Json last = response_events(out).back()["response"];
  EXPECT_EQ(last["status"], "incomplete");
  EXPECT_EQ(last["output"][0]["status"], "completed");
  EXPECT_EQ(last["output"][1]["status"], "incomplete");
}

TEST(ResponsesAnswer, SaysWhereItCouldNotBeKept) {
  ResponsesAnswer answer(opened(Json::object()),
                         [](const Json&) { return fail(Errc::io_failed, "the disk is full"); });
  const Json whole = Json::parse(answer
                                     .whole(R"({"choices": [{"message": {"content": "A"}}]})",
                                            /*streams=*/false)
                                     .value());
  EXPECT_EQ(whole["store"], false);
  EXPECT_EQ(whole["plimsoll"]["warnings"][0], "the response was not stored: the disk is full");
}

}  // namespace
}  // namespace plimsoll::gateway
