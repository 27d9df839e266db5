#include "engine/plan/read_plan.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

Plan full_plan() {
  Plan plan;
  plan.model = "llama3.2:3b";
  plan.window = {8'192, WindowSource::served, Confidence::high, {{"ollama POST /api/show", "num_ctx 8,192"}}};
  plan.policy = Policy::document_chat;
  for (std::size_t kind = 0; kind < section_kinds; ++kind)
    plan.sections.push_back(
        {{static_cast<SectionKind>(kind), 10, 5, 20, 1, 2}, 12, 11, Exactness::calibrated});
  plan.pieces = {{SectionKind::history, "messages[1]", 40, Fate::too_old, "older than what fits"},
                 {SectionKind::context, "doc#2", 80, Fate::kept, "best"}};
  plan.summary = {"9f2c", "model", true, "m", 2, 4, {"messages[1-4]"}, 400, 50};
  plan.input = 2'000;
  plan.thinking = 10;
  plan.answer = 512;
  plan.margin = 50;
  plan.left = 5'620;
  plan.fits = true;
  plan.least = 700;
  plan.exactness = Exactness::estimated;
  plan.why = "no tokenizer";
  plan.pressure = 0.25;
  plan.strategy.strategy = Strategy::rag_graph;
  plan.strategy.reasoning = "it is large";
  plan.strategy.content.tokens = 90'000;
  plan.fallback = {"a", "b", true, false, 9'000, 7'372, 9'900, {{"c", 0, "not known"}}, "too small"};
  plan.message_count = 3;
  plan.memory_count = 1;
  plan.prices = {{500, true, {"messages[1]"}, {}, 20, -3}, {-500, false, {}, {"doc#2"}, 0, 0}};
  plan.warnings = {"a \"warning\"\nof two lines"};
  plan.hash = "abc";
  return plan;
}

TEST(ReadPlan, GivesBackWhatIsDrawn) {
  const std::string text = plan_json(full_plan());
  const auto read = read_plan(text);
  ASSERT_TRUE(read) << read.error().what;
  Json before = Json::parse(text), after = Json::parse(plan_json(*read));
  EXPECT_EQ(read->strategy.strategy, Strategy::rag_graph);
  EXPECT_EQ(read->strategy.reasoning, "it is large");
  EXPECT_EQ(read->strategy.content.tokens, 90'000);
  before.erase("strategy");
  after.erase("strategy");
  EXPECT_EQ(before, after);
  EXPECT_GT(before.size(), 20U);
}

TEST(ReadPlan, LeavesWhatIsNotThere) {
  const auto read = read_plan("{}");
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->sections.empty());
}

TEST(ReadPlan, RefusesWhatIsNoPlan) {
  for (const char* text :
       {"", "[]", "{", R"({"model": 3})", R"({"policy": "whim"})", R"({"input_tokens": 1e3})",
        R"({"input_tokens": 1000000000001})", R"({"left": -9223372036854775808})", R"({"sections": {}})",
        R"({"sections": [3]})", R"({"sections": [{"name": "hold"}]})", R"({"warnings": [1]})",
        R"({"window": "8192"})"}) {
    const auto read = read_plan(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Errc::damaged);
  }
}

}  // namespace
}  // namespace plimsoll::engine
