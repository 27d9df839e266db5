#include "adapters/otlp/spans.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace plimsoll::otlp {
namespace {

using nlohmann::json;

Trace traced_request() {
  Trace trace;
  trace.id = "t1";
  trace.owner = "key_ann";
  trace.session = "s1";
  trace.route = "/v1/chat/completions";
  trace.at_ms = 1'700'000'000'123;
  trace.asked_model = "small";
  trace.model = "large";
  trace.upstream = "gpu";
  trace.code = ReplyCode{200};
  trace.finish_reason = "stop";
  trace.window = 8'192;
  trace.input = 700;
  trace.answer = 500;
  trace.usage.input = 702;
  trace.usage.answer = 12;
  trace.plan_us = 30;
  trace.retrieve_us = 20;
  trace.total_us = 9'000;
  trace.prompt = "the prompt";
  trace.warnings = {"words of a server"};
  trace.passages = {{"ship.md", {0, 9}, 7, 0.5, 0.25, "matches", "deep water"}};
  trace.left_out = {{"log.md", 0.1, 0.2, "no room"}};
  trace.left_out_total = 1;
  trace.context = {"4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", 1, "a=1"};
  trace.parent_span = "1111111111111111";
  TraceAttempt failed{"cpu", "small", ReplyCode{503}, "status 503", 4'096, 1'000};
  failed.began_us = 100;
  failed.provider = "ollama";
  failed.span_id = "2222222222222222";
  TraceAttempt answered{"gpu", "large", ReplyCode{200}, "answered", 8'192, 2'000};
  answered.began_us = 1'500;
  answered.provider = "vllm";
  answered.span_id = "3333333333333333";
  trace.attempts = {failed, answered};
  return trace;
}

json spans_in(const Trace& trace, bool with_words = false, const Plan& plan = {}) {
  return json::parse("[" + spans_of(trace, plan, RequestKind::chat, with_words) + "]");
}

json attribute(const json& of, std::string_view key) {
  for (const json& one : of.at("attributes"))
    if (one.at("key") == key) return one.at("value").begin().value();
  return nullptr;
}

std::vector<std::string> events_in(const json& span) {
  std::vector<std::string> names;
  for (const json& event : span.at("events")) names.push_back(event.at("name"));
  return names;
}

TEST(Spans, JoinTheTraceOfTheClient) {
  const json spans = spans_in(traced_request());
  ASSERT_EQ(spans.size(), 3U);
  for (const json& span : spans) {
    EXPECT_EQ(span["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
    EXPECT_EQ(span["traceState"], "a=1");
  }
  EXPECT_EQ(spans[0]["parentSpanId"], "1111111111111111");
  EXPECT_EQ(spans[1]["parentSpanId"], spans[0]["spanId"]);
  EXPECT_EQ(spans[2]["spanId"], "3333333333333333");
  Trace first = traced_request();
  first.parent_span.clear();
  EXPECT_FALSE(spans_in(first)[0].contains("parentSpanId"));
}

TEST(Spans, HaveTheTimesOfTheRequest) {
  const json spans = spans_in(traced_request());
  EXPECT_EQ(spans[0]["startTimeUnixNano"], "1700000000123000000");
  EXPECT_EQ(spans[0]["endTimeUnixNano"], "1700000000132000000");
  EXPECT_EQ(spans[1]["startTimeUnixNano"], "1700000000123100000");
  EXPECT_EQ(spans[1]["endTimeUnixNano"], "1700000000124100000");
  EXPECT_EQ(spans[2]["endTimeUnixNano"], spans[0]["endTimeUnixNano"]) << "the answer was read to its end";
}

TEST(Spans, TellThePlanAndTheUsage) {
  Plan plan;
  PlannedSection question;
  question.section.kind = SectionKind::question;
  question.grant = 40;
  question.used = 30;
  plan.sections = {question};
  plan.fallback.from = "small";
  plan.fallback.to = "large";
  const json spans = spans_in(traced_request(), false, plan);
  EXPECT_EQ(attribute(spans[0], "plimsoll.window"), "8192");
  EXPECT_EQ(attribute(spans[0], "plimsoll.input"), "700");
  EXPECT_EQ(attribute(spans[0], "http.response.status_code"), "200");
  EXPECT_EQ(attribute(spans[2], "gen_ai.operation.name"), "chat");
  EXPECT_EQ(attribute(spans[2], "gen_ai.provider.name"), "vllm");
  EXPECT_EQ(attribute(spans[2], "gen_ai.usage.input_tokens"), "702");
  EXPECT_EQ(attribute(spans[2], "gen_ai.usage.output_tokens"), "12");
  EXPECT_EQ(attribute(spans[2], "gen_ai.response.finish_reasons")["values"][0]["stringValue"], "stop");
  EXPECT_EQ(attribute(spans[1], "gen_ai.usage.input_tokens"), nullptr) << "it did not answer";
  EXPECT_EQ(attribute(spans[1], "error.type"), "503");
  EXPECT_EQ(spans[1]["status"]["code"], 2);
  EXPECT_FALSE(spans[2].contains("status"));
  EXPECT_EQ(events_in(spans[0]), (std::vector<std::string>{"plimsoll.plan", "plimsoll.fallback",
                                                           "plimsoll.passage", "plimsoll.left_out"}));
  EXPECT_EQ(attribute(spans[0]["events"][0], "plimsoll.section.question.granted"), "40");
}

TEST(Spans, HaveNobodysWordsUnlessTheyMay) {
  Trace trace = traced_request();
  trace.error = "the server said: deep water";
  const std::string without = spans_of(trace, {}, RequestKind::chat, false),
                    with = spans_of(trace, {}, RequestKind::chat, true);
  for (const std::string_view words : {"the prompt", "words of a server", "deep water"}) {
    EXPECT_EQ(without.find(words), std::string::npos) << words;
    EXPECT_NE(with.find(words), std::string::npos) << words;
  }
}

TEST(Spans, FailWhereTheServerFails) {
  Trace trace = traced_request();
  trace.code = ReplyCode{400};
  EXPECT_FALSE(spans_in(trace)[0].contains("status")) << "it is the client's mistake";
  trace.code = ReplyCode{502};
  EXPECT_EQ(spans_in(trace)[0]["status"]["code"], 2);
  trace.attempts.pop_back();
  trace.attempts[0].code = ReplyCode::none;
  EXPECT_EQ(attribute(spans_in(trace)[1], "error.type"), "unreachable");
}

TEST(Spans, OfARequestWithManyPassagesAreBounded) {
  Trace trace = traced_request();
  trace.passages.assign(1'000, trace.passages[0]);
  EXPECT_EQ(spans_in(trace)[0]["events"].size(), 128U);
}

TEST(Spans, AreSentWithTheirSource) {
  const std::string one = spans_of(traced_request(), {}, RequestKind::chat, false);
  const std::vector<std::string> batches{one, one};
  const json body = json::parse(spans_request({"1.0", "abc"}, batches));
  const json& of = body["resourceSpans"][0];
  EXPECT_EQ(attribute(of["resource"], "service.name"), "plimsoll");
  EXPECT_EQ(attribute(of["resource"], "service.instance.id"), "abc");
  EXPECT_EQ(of["scopeSpans"][0]["spans"].size(), 6U);
  EXPECT_EQ(of["scopeSpans"][0]["scope"]["version"], "1.0");
}

}  // namespace
}  // namespace plimsoll::otlp
