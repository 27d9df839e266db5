// Rules S8 and S9, and S10 for crises.
#include <algorithm>
#include <limits>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "plimsoll/strategy.hpp"
#include "strategy/decision_json.hpp"

namespace plimsoll {
namespace {

constexpr Tokens most = std::numeric_limits<Tokens>::max();
__extension__ using Wide = __int128;

StrategyDecision decide(TaskType type, Tokens content, Tokens window, Tokens used = 0,
                        const std::vector<std::string>& tools = {}) {
  return decide_strategy({type, false, ""}, {content, ContentSource::counted, Exactness::exact}, window, used,
                         tools);
}

TEST(EstimateContent, AsksInOrder) {
  using enum ContentSource;
  const std::int64_t files[] = {4'001, 3};
  const auto expect = [](const ContentEstimate& estimate, Tokens tokens, ContentSource source) {
    EXPECT_EQ(estimate.tokens, tokens);
    EXPECT_EQ(estimate.source, source);
    EXPECT_EQ(estimate.exactness, Exactness::estimated);
  };
  expect(estimate_content(4'003, files, ContentSize::huge), 1'000, char_count);
  expect(estimate_content({}, files, ContentSize::huge), 1'001, file_sizes);
  expect(estimate_content(0, files, {}), 1'001, file_sizes);
  expect(estimate_content(-4, {}, ContentSize::huge), 500'000, hint);
  const std::int64_t empty[] = {0, -1};
  expect(estimate_content({}, empty, ContentSize::tiny), 2'000, hint);
  expect(estimate_content({}, {}, {}), 64'000, assumed);
  const std::int64_t huge[] = {most, most};
  expect(estimate_content({}, huge, {}), most / 4, file_sizes);
}

TEST(EstimateContent, KnowsTheSizesByName) {
  const std::pair<const char*, Tokens> sizes[] = {{"tiny", 2'000},    {"small", 8'000},
                                                  {"medium", 32'000}, {"large", 100'000},
                                                  {"huge", 500'000},  {"massive", 2'000'000}};
  ASSERT_EQ(content_sizes().size(), std::size(sizes));
  for (std::size_t i = 0; i < std::size(sizes); ++i) {
    const auto& [name, tokens] = sizes[i];
    EXPECT_EQ(content_sizes()[i], name);
    ASSERT_TRUE(content_size_named(name)) << name;
    EXPECT_EQ(name_of(*content_size_named(name)), name);
    EXPECT_EQ(estimate_content({}, {}, content_size_named(name)).tokens, tokens);
  }
  EXPECT_EQ(content_size_named(" HUGE\n"), ContentSize::huge);
  EXPECT_FALSE(content_size_named("gigantic"));
  EXPECT_FALSE(content_size_named(""));
}

struct Case {
  TaskType type;
  Tokens content, window, used;
  Strategy strategy;
  double confidence;
  Tokens retrieval;
};

TEST(DecideStrategy, FollowsTheRuleInOrder) {
  using enum TaskType;
  const Case cases[] = {
      {rag_critical, 2'000, 128'000, 0, Strategy::hybrid, 0.85, 28'800},
      {rag_critical, 400'000, 1'000'000, 0, Strategy::hybrid, 0.85, 225'000},
      {rag_critical, 100'000, 128'000, 0, Strategy::rag, 0.80, 67'200},
      {unknown, 32'000, 128'000, 0, Strategy::stuff, 0.95, 0},
      {hybrid, 32'000, 128'000, 0, Strategy::stuff, 0.95, 0},
      {unknown, 32'001, 128'000, 0, Strategy::hybrid, 0.60, 28'800},
      {stuff_friendly, 96'000, 128'000, 0, Strategy::stuff, 0.85, 0},
      {stuff_friendly, 500'000, 1'000'000, 0, Strategy::stuff, 0.85, 0},
      {stuff_friendly, 96'001, 128'000, 0, Strategy::hybrid, 0.75, 28'800},
      {hybrid, 96'000, 128'000, 0, Strategy::hybrid, 0.75, 28'800},
      {hybrid, 128'000, 128'000, 0, Strategy::hybrid, 0.75, 28'800},
      {hybrid, 128'001, 128'000, 0, Strategy::rag, 0.80, 67'200},
      {hybrid, 128'001, 1'000'000, 0, Strategy::rag, 0.80, 525'000},
      {hybrid, 20'000, 15'999, 0, Strategy::rag, 0.80, 8'400},
      {hybrid, 20'000, 16'000, 0, Strategy::hybrid, 0.75, 4'000},
      {unknown, 20'000, 16'000, 0, Strategy::rag, 0.80, 8'400},
      {unknown, 1'000'000, 128'000, 0, Strategy::rag, 0.80, 67'200},
      {unknown, 1'000'001, 128'000, 0, Strategy::rag_graph, 0.70, 67'200},
      {unknown, 2'000'000, 4'000'000, 0, Strategy::rag_graph, 0.70, 2'100'000},
      {unknown, 2'000, 128'000, 94'000, Strategy::stuff, 0.95, 0},
      {unknown, 2'000, 128'000, 94'001, Strategy::rag, 0.80, 1'999},
  };
  for (const Case& one : cases) {
    const StrategyDecision decision = decide(one.type, one.content, one.window, one.used);
    const std::string what =
        fmt::format("{} {} in {} with {} used", name_of(one.type), one.content, one.window, one.used);
    EXPECT_EQ(decision.strategy, one.strategy) << what;
    EXPECT_EQ(decision.confidence, one.confidence) << what;
    EXPECT_EQ(decision.retrieval_budget_tokens, one.retrieval) << what;
    EXPECT_EQ(decision.available_budget, std::max<Tokens>(0, one.window - one.used - one.window / 4)) << what;
    EXPECT_FALSE(decision.reasoning.empty()) << what;
  }
}

TEST(DecideStrategy, HasNoRoomWhereThereIsNone) {
  for (const Tokens window : {Tokens{0}, Tokens{-5}, Tokens{4'096}}) {
    const StrategyDecision decision = decide(TaskType::unknown, 10'000, window, 5'000);
    EXPECT_EQ(decision.available_budget, 0);
    EXPECT_EQ(decision.retrieval_budget_tokens, 0);
    EXPECT_EQ(decision.strategy, Strategy::rag);
    EXPECT_NE(decision.steps.front().find("Make room"), std::string::npos);
  }
  EXPECT_EQ(decide(TaskType::unknown, 10'000, 0).utilization_pct, 100.0);
  EXPECT_EQ(decide(TaskType::unknown, -3, 1'000, -9).available_budget, 750);
}

TEST(DecideStrategy, RoundsTheShareToOneDecimal) {
  EXPECT_EQ(decide(TaskType::unknown, 8'000, 128'000).utilization_pct, 6.2) << "6.25, to the even digit";
  EXPECT_EQ(decide(TaskType::unknown, 24'000, 128'000).utilization_pct, 18.8) << "18.75";
  EXPECT_EQ(decide(TaskType::unknown, 500'000, 128'000).utilization_pct, 390.6);
  EXPECT_EQ(decide(TaskType::unknown, 1, 3).utilization_pct, 33.3);
  EXPECT_EQ(decide(TaskType::unknown, 0, 3).utilization_pct, 0.0);
}

TEST(DecideStrategy, SharesExactlyWhereAFloatWouldNot) {
  const StrategyDecision decision = decide(TaskType::unknown, 500'000, 27'319);
  ASSERT_EQ(decision.available_budget, 20'490);
  EXPECT_EQ(static_cast<Tokens>(20'490 * 0.7), 14'342) << "a float really is one lower";
  EXPECT_EQ(decision.retrieval_budget_tokens, 14'343);
}

bool has(const StrategyDecision& decision, std::string_view word) {
  return std::ranges::any_of(decision.steps,
                             [&](const std::string& step) { return step.find(word) != std::string::npos; });
}

TEST(Steps, NameTheToolsThatAreThereAndNoOthers) {
  const std::vector<std::string> all{"read_file", "web_extract", "web_search", "session_search", "memory"};
  const std::pair<Tokens, std::vector<std::string>> cases[] = {
      {1'000, {"read_file", "web_extract"}},                    // STUFF
      {64'000, all},                                            // HYBRID
      {500'000, all},                                           // RAG
      {5'000'000, {"web_search", "session_search", "memory"}},  // RAG+GRAPH
  };
  for (const auto& [content, used] : cases) {
    const auto none = decide(TaskType::unknown, content, 128'000);
    EXPECT_GE(none.steps.size(), 2U);
    for (const std::string& tool : all) {
      const std::string word = tool == "memory" ? "Search memory" : tool;
      const bool wanted = std::ranges::find(used, tool) != used.end();
      EXPECT_FALSE(has(none, word)) << content << " " << tool;
      EXPECT_EQ(has(decide(TaskType::unknown, content, 128'000, 0, {tool}), word), wanted)
          << content << " " << tool;
    }
    EXPECT_EQ(decide(TaskType::unknown, content, 128'000, 0, all).steps.size(),
              none.steps.size() + used.size());
    EXPECT_EQ(decide(TaskType::unknown, content, 128'000, 0, {"hammer"}).steps, none.steps);
  }
}

TEST(Steps, AskToVerifyAndCiteWherePrecisionMatters) {
  EXPECT_TRUE(has(decide(TaskType::rag_critical, 1'000, 128'000), "verify every retrieved fact and cite"));
  EXPECT_FALSE(has(decide(TaskType::unknown, 1'000, 128'000), "cite"));
  EXPECT_TRUE(has(decide(TaskType::unknown, 500'000, 128'000), "67,200 tokens"));
}

TEST(ContextStrategy, IsNeverStuffInACrisisAndHasItsOwnStep) {
  for (const Tokens window : {Tokens{4'096}, Tokens{128'000}, Tokens{2'000'000}}) {
    for (const std::string_view size : content_sizes()) {
      const StrategyDecision decision = context_strategy({.query = "Write a poem, I want to die",
                                                          .content_size_hint = content_size_named(size),
                                                          .model_context_length = window});
      EXPECT_TRUE(decision.task.crisis);
      EXPECT_NE(decision.strategy, Strategy::stuff) << size << " in " << window;
      EXPECT_TRUE(decision.steps.front().starts_with("Crisis:"));
      EXPECT_TRUE(has(decision, "cite"));
    }
  }
  EXPECT_FALSE(has(context_strategy({.query = "Write a poem"}), "Crisis"));
}

TEST(ContextStrategy, PrefersWhatWasCounted) {
  StrategyAsk ask{.query = "Fix it", .content_size_hint = ContentSize::huge, .counted = 1'234};
  EXPECT_EQ(context_strategy(ask).content.tokens, 1'234);
  EXPECT_EQ(context_strategy(ask).content.exactness, Exactness::exact);
  ask.file_bytes = {4'000};
  EXPECT_EQ(context_strategy(ask).content.tokens, 2'234)
      << "a file that could not be counted goes by its size";
  EXPECT_EQ(context_strategy(ask).content.exactness, Exactness::estimated);
  EXPECT_EQ(context_strategy(ask).content.source, ContentSource::counted);
  ask.char_count = 400;
  EXPECT_EQ(context_strategy(ask).content.tokens, 100) << "who gives a size means it";
  EXPECT_EQ(context_strategy({.query = "x", .counted = 0}).content.tokens, 0)
      << "empty files are known to be empty";
}

TEST(ContextStrategy, HasTheDefaultsOfTheTool) {
  const StrategyDecision decision = context_strategy({.query = "Fix it"});
  EXPECT_EQ(decision.model_context_length, 128'000);
  EXPECT_EQ(decision.used_tokens, 0);
  EXPECT_EQ(decision.content.tokens, 64'000);
  EXPECT_EQ(decision.content.source, ContentSource::assumed);
  EXPECT_EQ(decision.strategy, Strategy::hybrid);
  EXPECT_EQ(decision.confidence, 0.60);
}

TEST(DecisionJson, HasTheFieldsOfTheRule) {
  const auto json =
      strategy::to_json(context_strategy({.query = "What is a load line?", .char_count = 32'000}));
  const char* const fields[] = {"strategy",
                                "confidence",
                                "reasoning",
                                "content_tokens",
                                "available_budget",
                                "model_context_length",
                                "used_tokens",
                                "utilization_pct",
                                "task_type",
                                "retrieval_budget_tokens",
                                "steps",
                                "crisis"};
  for (const char* field : fields) EXPECT_TRUE(json.contains(field)) << field;
  EXPECT_EQ(json["strategy"], "HYBRID");
  EXPECT_EQ(json["confidence"].dump(), "0.85");
  EXPECT_EQ(json["content_tokens"], 8'000);
  EXPECT_EQ(json["utilization_pct"].dump(), "6.2");
  EXPECT_EQ(json["task_type"], "rag_critical");
  EXPECT_EQ(json["signal"], "what is");
  EXPECT_EQ(json["content_source"], "char_count");
  EXPECT_TRUE(json["crisis"].is_boolean());
  EXPECT_FALSE(json["crisis"].get<bool>());
}

// The rule as docs/rules.md states it, line by line.
std::pair<Strategy, int> as_the_rule_says(TaskType type, Tokens content, Tokens window, Tokens budget) {
  const bool fits = content <= budget;
  if (type == TaskType::rag_critical && fits) return {Strategy::hybrid, 85};
  if (content <= 32'000 && fits) return {Strategy::stuff, 95};
  if (fits && type == TaskType::stuff_friendly) return {Strategy::stuff, 85};
  if (content <= 128'000 && (type == TaskType::hybrid || type == TaskType::stuff_friendly))
    return window < 16'000 ? std::pair{Strategy::rag, 80} : std::pair{Strategy::hybrid, 75};
  if (content > 128'000 || !fits)
    return content > 1'000'000 ? std::pair{Strategy::rag_graph, 70} : std::pair{Strategy::rag, 80};
  return {Strategy::hybrid, 60};
}

TEST(DecideStrategy, IsTheRuleForAnyNumbers) {
  std::mt19937_64 rng{5};
  const auto around = [&](std::initializer_list<Tokens> points) {
    const Tokens point = points.begin()[rng() % points.size()];
    return std::max<Tokens>(0, point + static_cast<Tokens>(rng() % 7) - 3);
  };
  int seen[4] = {};
  int at_the_border = 0;
  for (int round = 0; round < 200'000; ++round) {
    const auto type = static_cast<TaskType>(rng() % 4);
    const Tokens window = rng() % 50 == 0 ? static_cast<Tokens>(rng() >> 1)
                          : rng() % 2 == 0
                              ? around({0, 8'192, 16'000, 42'667, 128'000, 171'000, 1'048'576, 2'000'000})
                              : static_cast<Tokens>(rng() % 3'000'000);
    const Tokens used =
        rng() % 3 == 0 ? 0
                       : static_cast<Tokens>(rng() % (static_cast<std::uint64_t>(window) / 2 * 3 + 1) % most);
    const Tokens budget = std::max<Tokens>(0, window - window / 4 - used);
    const Tokens content = rng() % 4 == 0
                               ? std::max<Tokens>(0, budget / 2 * 2 + static_cast<Tokens>(rng() % 3) - 1)
                           : rng() % 2 == 0 ? around({0, 32'000, 128'000, 1'000'000})
                                            : static_cast<Tokens>(rng() % 3'000'000);
    const StrategyDecision got = decide(type, content, window, used);
    const auto [strategy, confidence] = as_the_rule_says(type, content, window, budget);
    const std::string what = fmt::format("{} {} in {} with {} used", name_of(type), content, window, used);
    ASSERT_EQ(got.available_budget, budget) << what;
    ASSERT_EQ(got.strategy, strategy) << what;
    ASSERT_EQ(got.confidence, confidence / 100.0) << what;
    const int tenths = strategy == Strategy::hybrid ? 3 : 7;
    const auto share = static_cast<Tokens>(Wide{budget} * tenths / 10);
    ASSERT_EQ(got.retrieval_budget_tokens,
              strategy == Strategy::stuff ? 0 : std::min(budget, std::max<Tokens>(4'000, share)))
        << what;
    ASSERT_FALSE(got.steps.empty()) << what;
    ++seen[static_cast<std::size_t>(strategy)];
    at_the_border += content == budget ? 1 : 0;
  }
  for (const int count : seen) EXPECT_GT(count, 5'000);
  EXPECT_GT(at_the_border, 5'000);
}

TEST(Strategy, IsTheOneAskedForExceptForPastingInACrisis) {
  const StrategyDecision by_rule = context_strategy({.query = "Summarize this", .char_count = 48'000});
  ASSERT_EQ(by_rule.strategy, Strategy::stuff);
  for (const char* name : {"STUFF", "HYBRID", "RAG", "RAG+GRAPH", "rag+graph"}) {
    const auto wanted = strategy_named(name);
    ASSERT_TRUE(wanted) << name;
    const StrategyDecision taken = with_strategy(by_rule, *wanted, {});
    EXPECT_EQ(taken.strategy, *wanted);
    EXPECT_NE(taken.reasoning.find("By rule it would be STUFF"), std::string::npos) << taken.reasoning;
    EXPECT_EQ(taken.retrieval_budget_tokens > 0, *wanted != Strategy::stuff);
    EXPECT_LE(taken.retrieval_budget_tokens, taken.available_budget);
  }
  EXPECT_FALSE(strategy_named("GRAPH"));
  const StrategyDecision crisis = context_strategy({.query = "I want to die", .char_count = 4'000});
  EXPECT_EQ(with_strategy(crisis, Strategy::stuff, {}).strategy, Strategy::hybrid);
  EXPECT_EQ(with_strategy(crisis, Strategy::rag, {}).strategy, Strategy::rag);
}

}  // namespace
}  // namespace plimsoll
