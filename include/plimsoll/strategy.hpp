// Decides whether to paste content, retrieve from it or do both, and how many memories to prefetch. Rules S1
// to S4 and S7 to S9 of docs/rules.md; docs/strategy.md explains them.
//
//   StrategyDecision advice = context_strategy({.query = "Summarize this", .char_count = 48'000});
//   advice.strategy;  // Strategy::stuff: 12,000 tokens fit easily
//
// Pure: no I/O, no clock. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/tokens.hpp"

namespace plimsoll {

// ---- How full the window is (S1 to S4) ----

// Below 0.30, below 0.70, and from there on.
enum class PressureLevel : std::uint8_t { stuff, hybrid, selective };
std::string_view name_of(PressureLevel level);  // "stuff", "hybrid", "selective"

struct ContextBudget {
  Tokens context_length = 0;
  Tokens used_tokens = 0;       // a negative number counts as 0
  Tokens threshold_tokens = 0;  // where history is compressed; 0: never
  bool compression_enabled = true;

  // used / threshold, or used / context_length without a threshold. 1 is full; it can be above 1.
  double pressure() const;
  PressureLevel level() const;  // in integer arithmetic: no rounding at the borders
};

struct Prefetch {
  std::int64_t limit = 0;  // facts to fetch from each provider
  double min_trust = 1.0;  // facts below it are left out
  PressureLevel level = PressureLevel::selective;
  bool skip = true;  // pressure above 0.95: the conversation needs the room
};
// `base_min_trust`: the lowest trust at the middle level.
Prefetch prefetch(const ContextBudget& budget, std::int64_t base_limit = 5, double base_min_trust = 0.3);

// Returns whether to search memory for this query.
bool should_prefetch(const ContextBudget& budget, std::string_view query);

// Returns several lines of text, without a final newline.
std::string pressure_report(const ContextBudget& budget, double base_min_trust = 0.3);

// ---- What is asked for (S7) ----

enum class TaskType : std::uint8_t { rag_critical, stuff_friendly, hybrid, unknown };
std::string_view name_of(TaskType type);  // "rag_critical", ...

struct Task {
  TaskType type = TaskType::unknown;
  bool crisis = false;      // a person may be in danger; always rag_critical
  std::string_view signal;  // the keyword that decided; empty for unknown
};
Task classify(std::string_view query);

// ---- How much content there is (S8) ----

enum class ContentSize : std::uint8_t { tiny, small, medium, large, huge, massive };
std::string_view name_of(ContentSize size);
std::span<const std::string_view> content_sizes();  // names by rising size
// Finds a size by name; ignores case and surrounding spaces.
std::optional<ContentSize> content_size_named(std::string_view name);

enum class ContentSource : std::uint8_t { char_count, counted, file_sizes, hint, assumed };
std::string_view name_of(ContentSource source);  // "char_count", "counted", "file_sizes", "hint", "default"

struct ContentEstimate {
  Tokens tokens = 0;
  ContentSource source = ContentSource::assumed;
  Exactness exactness = Exactness::estimated;
};
// A char_count or size of 0 or below is ignored.
ContentEstimate estimate_content(std::optional<std::int64_t> char_count,
                                 std::span<const std::int64_t> file_bytes, std::optional<ContentSize> hint);

// ---- The decision (S9) ----

enum class Strategy : std::uint8_t { stuff, hybrid, rag, rag_graph };
std::string_view name_of(Strategy strategy);                    // "STUFF", "HYBRID", "RAG", "RAG+GRAPH"
std::optional<Strategy> strategy_named(std::string_view name);  // ignores case

struct StrategyAsk {
  std::string query = {};
  std::optional<ContentSize> content_size_hint = {};
  std::vector<std::int64_t> file_bytes = {};  // of the files that could not be counted
  std::optional<Tokens> counted = {};         // tokens of counted files and texts
  Exactness counted_exactness = Exactness::exact;
  std::optional<std::int64_t> char_count = {};
  Tokens model_context_length = 128'000;
  Tokens used_tokens = 0;  // negative numbers count as 0, here and above
  std::vector<std::string> available_tools = {};
};

struct StrategyDecision {
  Strategy strategy = Strategy::hybrid;
  double confidence = 0;  // 0 to 1, fixed by the rule that decided
  std::string reasoning;
  ContentEstimate content;
  Tokens available_budget = 0;  // window - used - a quarter of the window
  Tokens model_context_length = 0;
  Tokens used_tokens = 0;
  double utilization_pct = 0;  // content as percentage of the window; one decimal
  Task task;
  Tokens retrieval_budget_tokens = 0;  // never above available_budget
  std::vector<std::string> steps;
};

// Applies only the rule, to an already classified task and measured content.
StrategyDecision decide_strategy(const Task& task, const ContentEstimate& content,
                                 Tokens model_context_length, Tokens used_tokens,
                                 std::span<const std::string> available_tools);

// Returns the decision with a strategy that somebody has asked for. A crisis is never STUFF.
StrategyDecision with_strategy(StrategyDecision decided, Strategy wanted,
                               std::span<const std::string> available_tools);

// Classifies the task, estimates the content, and decides.
StrategyDecision context_strategy(const StrategyAsk& ask);

}  // namespace plimsoll
