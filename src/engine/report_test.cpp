// What the client is told, and what is kept of a request.
#include "engine/report.hpp"

#include "engine/testing_engine.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

PlannedPiece piece(SectionKind section, Fate fate, Tokens tokens) {
  PlannedPiece one;
  one.section = section;
  one.fate = fate;
  one.tokens = tokens;
  return one;
}

class ReportTest : public testing::Test {
 protected:
  ScriptedServer server_;
  TestEngine test_{{&server_}};
};

TEST_F(ReportTest, NumbersPassagesAsInThePrompt) {
  TestRequest one(test_, chat_body());
  one.planned.documents.passages.resize(3);
  one.planned.documents.nothing_near = "Nothing is near.";
  one.planned.plan.pieces = {piece(SectionKind::context, Fate::kept, 10),
                             piece(SectionKind::context, Fate::no_room, 20),
                             piece(SectionKind::context, Fate::kept, 30)};
  EXPECT_EQ(passages_in_plan(one.planned), (std::vector<std::size_t>{0, 2}));
  const Trace trace = one.trace();
  const AnswerReport report = report_of(one.sendable(), trace, nullptr);
  ASSERT_EQ(report.passages.size(), 2U);
  EXPECT_EQ(report.passages[1].number, 3U);
  EXPECT_EQ(report.passages[1].found, &one.planned.documents.passages[2]);
  EXPECT_EQ(report.nothing_near, "Nothing is near.");
  EXPECT_FALSE(report.memories);
  EXPECT_EQ(report.check, nullptr);
}

TEST_F(ReportTest, ListsRecalledMemoriesAndNotTheClientsOwn) {
  const Json own{{"memories", {{{"id", "own"}, {"text", "I am the mate."}}}}};
  TestRequest one(test_, chat_body({{"plimsoll", own}}));
  Recalled& recalled = one.request.recalled.emplace();
  recalled.facts.resize(2);
  recalled.facts[0].recalled.fact.id = "mem_1";
  recalled.facts[1].recalled.fact.id = "mem_2";
  one.request.chat.additions.facts.resize(3);
  one.planned.plan.pieces = {piece(SectionKind::memory, Fate::kept, 5),
                             piece(SectionKind::memory, Fate::no_room, 6),
                             piece(SectionKind::memory, Fate::kept, 7)};
  const Trace trace = one.trace();
  const AnswerReport report = report_of(one.sendable(), trace, nullptr);
  ASSERT_TRUE(report.memories);
  ASSERT_EQ(report.memories->size(), 1U);
  EXPECT_EQ(report.memories->front().fact->recalled.fact.id, "mem_2");
  EXPECT_EQ(report.memories->front().tokens, 7);
}

TEST_F(ReportTest, ATraceHasTheLastPlansFigures) {
  TestRequest one(test_, chat_body());
  one.keep_plan();
  Trace trace = one.trace();
  EXPECT_EQ(trace.asked_model, "gpt-4o");
  EXPECT_EQ(trace.model, "gpt-4o");
  EXPECT_EQ(trace.upstream, "a");
  EXPECT_EQ(trace.input, one.planned.figures.input);
  EXPECT_FALSE(trace.changed);
  Planned refused;
  refused.figures = {1'000, 2'000, 0, 16, 64, Exactness::exact};
  record(refused, trace);
  EXPECT_EQ(trace.window, 1'000);
  EXPECT_EQ(trace.model, "gpt-4o");  // that was chosen before
}

TEST_F(ReportTest, NotesAddUp) {
  Trace trace;
  Spent spent;
  record(Notes{{"one"}, 5, 10}, trace, spent);
  record(Notes{{"two", "three"}, 7, 20}, trace, spent);
  EXPECT_EQ(trace.warnings, (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_EQ(trace.retrieve_us, 12);
  EXPECT_EQ(spent.summary, 30);
}

TEST_F(ReportTest, WhatWasUsedIsBoundedAndCharged) {
  Tokens charged = 0;
  test_.engine.charge = [&](const std::string&, Tokens tokens) { charged += tokens; };
  TestRequest one(test_, chat_body());
  one.keep_plan();
  const auto close = [&](Usage usage, ReplyCode code, Spent spent) {
    charged = 0;
    Trace trace = one.trace();
    trace.code = code;
    trace.usage = usage;
    Ended ended{one.received, one.planned, one.request.recalled, std::move(trace), std::move(spent)};
    close_request(test_.engine, std::move(ended), {});
    return charged;
  };
  Usage usage;
  usage.answer = 10;
  const Tokens input = one.planned.figures.input;
  EXPECT_EQ(close(usage, ReplyCode{200}, {}), input + 10);
  EXPECT_EQ(close(usage, ReplyCode{503}, {}), 0);
  Spent summary;
  summary.summary = 40;
  EXPECT_EQ(close(usage, ReplyCode{503}, summary), 40);  // a summary was written in any case
  usage.answer = 1'000'000;
  Spent limited;
  limited.allowed_answer = 16;
  EXPECT_EQ(close(usage, ReplyCode{200}, limited), input + 16);
  Spent refused;
  refused.is_turned_away = true;
  EXPECT_EQ(close({}, code_of_limits, refused), 0);
}

}  // namespace
}  // namespace plimsoll::engine
