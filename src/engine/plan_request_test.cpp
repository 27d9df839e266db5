// One plan of a request: what it takes, what is sent by it, and why another plan is due.
#include <sstream>

#include "base/json/json_text.hpp"
#include "base/log.hpp"
#include "conversation/testing_sessions.hpp"
#include "engine/testing_engine.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

// `turns` questions with answers of some 2 * words tokens each, and a last question.
Json long_chat(int turns, int words) {
  std::string text;
  for (int i = 0; i < words; ++i) text += " ship";
  Json messages = Json::array();
  for (int i = 0; i < turns; ++i) {
    messages.push_back({{"role", "user"}, {"content", fmt::format("question {}{}", i, text)}});
    messages.push_back({{"role", "assistant"}, {"content", fmt::format("answer {}{}", i, text)}});
  }
  messages.push_back({{"role", "user"}, {"content", "How deep?"}});
  return {{"model", "gpt-4o"}, {"max_tokens", 16}, {"messages", messages}};
}

void expect_the_law(const Planned& planned) {
  const Figures& figures = planned.figures;
  EXPECT_LE(figures.needs(), figures.window);
  EXPECT_EQ(figures.input, planned.plan.input);
}

class PlanRequest : public testing::Test {
 protected:
  PlanStep planned(const TestRequest& one) {
    auto step = one.plan();
    EXPECT_TRUE(step) << step.error().what;
    return step ? *std::move(step) : PlanStep();
  }
  void compress() { test_.engine.summaries = &summaries_; }

  ScriptedServer server_;
  TestEngine test_{{&server_, &server_}};
  conversation::MemorySessions sessions_;
  conversation::Summaries summaries_{sessions_};
};

TEST_F(PlanRequest, WhatFitsIsSentAsItCame) {
  const TestRequest one(test_, chat_body());
  const PlanStep step = planned(one);
  EXPECT_FALSE(step.again);
  EXPECT_FALSE(step.planned.refusal);
  EXPECT_EQ(step.planned.body, "");
  EXPECT_FALSE(step.planned.changed);
  EXPECT_EQ(step.planned.outgoing(one.received), chat_body());
  EXPECT_EQ(step.planned.upstream, "a");
  expect_the_law(step.planned);
}

TEST_F(PlanRequest, ChangesNoneOfItsValues) {
  const TestRequest one(test_, long_chat(60, 100).dump());
  const std::string before = base::json_text(one.request.chat.body);
  const PlanStep first = planned(one), second = planned(one);
  EXPECT_EQ(base::json_text(one.request.chat.body), before);
  EXPECT_EQ(first.planned.body, second.planned.body);
  EXPECT_EQ(plan_json(first.planned.plan), plan_json(second.planned.plan));
  EXPECT_TRUE(first.planned.changed);  // turns are left out
  expect_the_law(first.planned);
}

TEST_F(PlanRequest, WhatCannotFitHasTheErrorAndItsFigures) {
  const TestRequest one(test_, chat_body(Json::object(), 9'000));
  const PlanStep step = planned(one);
  ASSERT_TRUE(step.planned.refusal);
  EXPECT_EQ(step.planned.refusal->code, Errc::over_budget);
  EXPECT_NE(step.planned.refusal->what.find("8,192"), std::string::npos);
  EXPECT_GT(step.planned.figures.input, 8'192);
  EXPECT_EQ(step.planned.upstream, "");  // no server was chosen
}

TEST_F(PlanRequest, ALongHistoryIsCompressedFirst) {
  const TestRequest one(test_, long_chat(60, 100).dump());
  EXPECT_FALSE(planned(one).again);  // without summaries turns are left out
  compress();
  EXPECT_EQ(planned(one).again, Replan::Reason::history_too_long);
  TestRequest tried(test_, long_chat(60, 100).dump());
  tried.attempt.compressions = 2;
  EXPECT_FALSE(planned(tried).again);
  EXPECT_FALSE(planned(TestRequest(test_, long_chat(5, 20).dump())).again);
}

TEST_F(PlanRequest, TurnsThatAreLeftOutAreLookedThroughOnce) {
  Json body = long_chat(60, 100);
  body["plimsoll"]["recall"] = true;
  TestRequest one(test_, body.dump());
  EXPECT_EQ(planned(one).again, Replan::Reason::turns_left_out);
  one.attempt.recalled_from = 1'000;
  EXPECT_FALSE(planned(one).again);
}

TEST_F(PlanRequest, AnAttemptsWindowAndMarginAreObeyed) {
  TestRequest one(test_, chat_body());
  EXPECT_EQ(planned(one).planned.figures.window, 8'192);
  const Tokens margin = planned(one).planned.figures.margin;
  one.attempt.kept_free = 50;
  EXPECT_EQ(planned(one).planned.figures.margin, margin + 50);
  one.attempt.told_window = {one.attempt.location, 1'000};
  EXPECT_EQ(planned(one).planned.figures.window, 1'000);
}

TEST_F(PlanRequest, AskForUsageWhereSomebodyPaysByTokens) {
  Ask ask = ask_with(chat_body({{"stream", true}}));
  ask.caller.metered = true;
  const TestRequest metered(test_, std::move(ask));
  const PlanStep step = planned(metered);
  EXPECT_TRUE(step.planned.hides_usage);
  EXPECT_TRUE(step.planned.changed);
  EXPECT_EQ(Json::parse(step.planned.body)["stream_options"]["include_usage"], true);
  const PlanStep plain = planned(TestRequest(test_, chat_body({{"stream", true}})));
  EXPECT_FALSE(plain.planned.hides_usage);
  EXPECT_EQ(plain.planned.body, "");
}

TEST_F(PlanRequest, LogsTheFiguresOfTheAnswersBudget) {
  std::ostringstream said;
  log::start_on(said, log::Level::debug, log::Format::json);
  const auto logged = [&](Tokens requested, std::string_view message) {
    said.str({});
    const Planned done = planned(TestRequest(test_, chat_body({{"max_tokens", requested}}))).planned;
    std::istringstream lines(said.str());
    for (std::string line; std::getline(lines, line);) {
      Json one = Json::parse(line);
      if (one["message"] != message) continue;
      const Figures& figures = done.figures;
      EXPECT_EQ(one["model"], "gpt-4o");
      EXPECT_EQ(one["window"], figures.window);
      EXPECT_EQ(one["input"], figures.input);
      EXPECT_EQ(one["available"], figures.window - figures.input - figures.margin);
      EXPECT_EQ(one["requested"], requested);
      EXPECT_EQ(one["adjusted"], figures.answer);
      return one;
    }
    return Json();
  };
  const Json asked = logged(100, "answer as asked"), reduced = logged(100'000, "answer reduced");
  log::start(log::Level::info, log::Format::text);
  ASSERT_TRUE(asked.is_object() && reduced.is_object());
  EXPECT_EQ(asked["level"], "debug");
  EXPECT_EQ(asked["adjusted"], 100);
  EXPECT_EQ(asked["mark"], "-");
  EXPECT_EQ(reduced["level"], "warning");
  EXPECT_EQ(reduced["adjusted"], reduced["available"]);
  EXPECT_EQ(reduced["mark"], "REDUCED");
}

TEST_F(PlanRequest, OlderTurnsGiveWayWhereTheyDoNotFit) {
  TestRequest one(test_, chat_body(Json::object(), 7'000));
  render::EarlierTurn turn{1, true, 0, "", false, false};
  for (int i = 0; i < 2'000; ++i) turn.text += " bees";
  one.request.chat.additions.earlier = {turn};
  const PlanStep step = planned(one);
  EXPECT_FALSE(step.planned.refusal);
  EXPECT_EQ(step.planned.outgoing(one.received).find("bees"), std::string_view::npos);
  EXPECT_EQ(one.request.chat.additions.earlier.size(), 1U);
  expect_the_law(step.planned);
}

TEST_F(PlanRequest, AForwardedRequestIsCountedAndItsLimitLowered) {
  Ask ask = ask_with(R"({"model": "gpt-4o", "prompt": "How deep?", "max_tokens": 100000})");
  ask.kind = RequestKind::completion;
  const TestRequest one(test_, std::move(ask));
  const PlanStep step = planned(one);
  EXPECT_FALSE(step.planned.refusal);
  EXPECT_TRUE(step.planned.plan.sections.empty());
  EXPECT_GT(step.planned.figures.input, 0);
  EXPECT_EQ(step.planned.figures.needs(), step.planned.figures.window);
  EXPECT_EQ(Json::parse(step.planned.body)["max_tokens"], step.planned.figures.answer);
  ASSERT_EQ(step.notes.warnings.size(), 1U);
  EXPECT_NE(step.notes.warnings[0].find("REDUCED from 100,000"), std::string::npos);
}

TEST_F(PlanRequest, AForwardedRequestHasTheServersNameOfTheModelAndTheLoweredLimit) {
  Ask ask = ask_with(R"({"model": "b/gpt-4o", "prompt": "How deep?", "max_tokens": 100000})");
  ask.kind = RequestKind::completion;
  const PlanStep step = planned(TestRequest(test_, std::move(ask)));
  const Json sent = Json::parse(step.planned.body);
  EXPECT_EQ(sent["model"], "gpt-4o");
  EXPECT_EQ(sent["max_tokens"], step.planned.figures.answer);
}

TEST_F(PlanRequest, AForwardedRequestThatIsTooLongHasTheError) {
  Json body{{"model", "gpt-4o"}, {"prompt", std::string()}};
  for (int i = 0; i < 9'000; ++i) body["prompt"].get_ref<std::string&>() += " ship";
  Ask ask = ask_with(body.dump());
  ask.kind = RequestKind::completion;
  const PlanStep step = planned(TestRequest(test_, std::move(ask)));
  ASSERT_TRUE(step.planned.refusal);
  EXPECT_EQ(step.planned.refusal->code, Errc::over_budget);
  EXPECT_EQ(step.planned.upstream, "a");
}

}  // namespace
}  // namespace plimsoll::engine
