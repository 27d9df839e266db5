// Which model takes over where a server does not answer.
#include "engine/stand_in.hpp"

#include "engine/testing_engine.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

class StandInTest : public testing::Test {
 protected:
  std::optional<Replan> taken(const TestRequest& one) {
    Trace trace = one.trace();
    trace.attempts.clear();
    return take_stand_in(test_.engine, one.received, one.request, one.attempt, trace, one.attempt.location,
                         "no connection");
  }

  ScriptedServer server_;
  TestEngine test_{{&server_, &server_, &server_}};
};

TEST_F(StandInTest, IsTheNextAllowedModelThatWasNotTried) {
  TestRequest one(test_, chat_body({{"model", "a/gpt-4o"},
                                    {"plimsoll", {{"fallback", {"a/gpt-4o", "b/gpt-4o", "c/gpt-4o"}}}}}));
  one.keep_plan();
  const auto first = taken(one);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->next.model, "b/gpt-4o");
  EXPECT_EQ(first->next.location, (models::ModelLocation{1, "gpt-4o"}));
  EXPECT_EQ(first->next.stand_in->reason, "gpt-4o did not answer (no connection)");
  one.attempt = first->next;
  const auto second = taken(one);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->next.model, "c/gpt-4o");
  EXPECT_EQ(second->next.stand_in->reason, first->next.stand_in->reason);  // of the requested model
  EXPECT_EQ(second->next.stand_in->tried.size(), 2U);
  one.attempt = second->next;
  EXPECT_FALSE(taken(one));
}

TEST_F(StandInTest, IsNobodyWhereFallbackIsOffOrEnoughWasSent) {
  TestRequest off(test_, chat_body({{"model", "a/gpt-4o"}}));
  off.keep_plan();
  EXPECT_FALSE(taken(off));
  TestRequest often(test_, chat_body({{"model", "a/gpt-4o"}, {"plimsoll", {{"fallback", {"b/gpt-4o"}}}}}));
  often.keep_plan();
  EXPECT_TRUE(taken(often));
  often.attempt.sent = most_sent;
  EXPECT_FALSE(taken(often));
}

TEST_F(StandInTest, HasAWindowThatHoldsTheRequest) {
  TestRequest one(test_, chat_body({{"model", "a/gpt-4o"}, {"plimsoll", {{"fallback", {"b/gpt-4o"}}}}}));
  one.keep_plan();
  EXPECT_TRUE(taken(one));
  one.planned.figures.input = 9'000;
  EXPECT_FALSE(taken(one));
}

TEST_F(StandInTest, TakesOverACompletionAndNothingThatDependsOnTheModel) {
  test_.engine.rules.plan.fallback = true;
  test_.engine.rules.plan.fallback_models = {"b/gpt-4o"};
  const auto asked = [](RequestKind kind, const char* body) {
    Ask ask = ask_with(body);
    ask.kind = kind;
    return ask;
  };
  TestRequest text(test_, asked(RequestKind::completion, R"({"model": "a/gpt-4o", "prompt": "How deep?"})"));
  text.keep_plan();
  const auto taken_over = taken(text);
  ASSERT_TRUE(taken_over);
  text.attempt = taken_over->next;
  text.keep_plan();
  EXPECT_EQ(Json::parse(text.planned.body)["model"], "gpt-4o");
  EXPECT_EQ(text.planned.upstream, "b");
  EXPECT_EQ(text.planned.plan.fallback.to, "b/gpt-4o");
  EXPECT_EQ(text.planned.plan.warnings,
            (std::vector<std::string>{"gpt-4o did not answer (no connection): falling back to gpt-4o, "
                                      "whose window is 8,192"}));
  TestRequest vectors(test_, asked(RequestKind::embedding, R"({"model": "a/gpt-4o", "input": "How deep?"})"));
  vectors.keep_plan();
  EXPECT_FALSE(taken(vectors));
  TestRequest response(test_, asked(RequestKind::response, R"({"model": "a/gpt-4o", "input": "How deep?"})"));
  response.keep_plan();
  EXPECT_FALSE(taken(response));
}

TEST_F(StandInTest, IsToldInThePlan) {
  Plan plan;
  plan.model = "gpt-4o";
  plan.window.tokens = 8'192;
  Attempt attempt;
  attempt.model = "b/gpt-4o";
  tell_stand_in(plan, attempt);
  EXPECT_TRUE(plan.fallback.to.empty());
  attempt.stand_in = StandIn{"gpt-4o", 4'096, "gpt-4o did not answer (status 503)", {}};
  tell_stand_in(plan, attempt);
  EXPECT_EQ(plan.fallback.to, "b/gpt-4o");
  EXPECT_EQ(plan.fallback.from_window, 4'096);
  ASSERT_EQ(plan.warnings.size(), 1U);
  EXPECT_EQ(plan.warnings[0],
            "gpt-4o did not answer (status 503): falling back to gpt-4o, whose window is 8,192");
}

}  // namespace
}  // namespace plimsoll::engine
