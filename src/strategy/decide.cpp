// Rule S9: decides between pasting, mixing, retrieving and graph search.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/text/text.hpp"
#include "plimsoll/strategy.hpp"
#include "strategy/steps.hpp"

namespace plimsoll {
namespace {

using base::with_thousands;
__extension__ using Wide = __int128;

constexpr Tokens small_content = 32'000;     // not worth a search if it fits
constexpr Tokens large_content = 128'000;    // too much to mix
constexpr Tokens graph_content = 1'000'000;  // too much for a ranked list
constexpr Tokens small_window = 16'000;      // too small to mix
constexpr Tokens least_retrieval = 4'000;

// floor(n × tenths / 10); floating point could be off by one.
Tokens tenths_of(Tokens n, Tokens tenths) {
  return n / 10 * tenths + n % 10 * tenths / 10;
}

// Rounds to one decimal, ties to even. 100 if there is no window.
double percent(Tokens part, Tokens whole) {
  if (whole <= 0) return 100;
  const Wide thousandfold = Wide{part} * 1000;
  Wide tenths = thousandfold / whole;
  const Wide rest = thousandfold % whole * 2;
  if (rest > whole || (rest == whole && tenths % 2 != 0)) ++tenths;
  return static_cast<double>(tenths) / 10;
}

struct Verdict {
  Strategy strategy;
  double confidence;
  std::string reasoning;
};

Verdict verdict_when_it_fits(TaskType type, const std::string& size, const std::string& room) {
  switch (type) {
    case TaskType::rag_critical:
      return {
          Strategy::hybrid, 0.85,
          fmt::format("The {} of content fit into the {} that are free, but this task needs precise facts: "
                      "include the key documents and verify them by retrieval.",
                      size, room)};
    case TaskType::stuff_friendly:
      return {
          Strategy::stuff, 0.85,
          fmt::format("The {} of content fit into the {} that are free, and this kind of task benefits from "
                      "the whole content.",
                      size, room)};
    case TaskType::hybrid:
      return {
          Strategy::hybrid, 0.75,
          fmt::format(
              "The {} of content fit into the {} that are free, but would use much of it: include the most "
              "relevant parts and retrieve the rest when needed.",
              size, room)};
    case TaskType::unknown: break;
  }
  return {
      Strategy::hybrid, 0.60,
      fmt::format("The {} of content fit into the {} that are free, and the query does not show the kind of "
                  "task: mixing keeps both options open.",
                  size, room)};
}

Verdict verdict_on(TaskType type, Tokens content, Tokens window, Tokens budget) {
  const std::string size = with_thousands(content) + " tokens";
  const std::string room = with_thousands(budget);
  const bool fits = content <= budget;
  if (fits && type != TaskType::rag_critical && content <= small_content)
    return {
        Strategy::stuff, 0.95,
        fmt::format("The {} of content are few (up to {}) and fit into the {} that are free: searching them "
                    "would cost time and gain nothing.",
                    size, with_thousands(small_content), room)};
  // Large content that fits is pasted or mixed, depending on the task; other tasks retrieve if it is too
  // large to mix.
  if (fits &&
      (content <= large_content || type == TaskType::rag_critical || type == TaskType::stuff_friendly))
    return verdict_when_it_fits(type, size, room);
  if (content <= large_content && (type == TaskType::hybrid || type == TaskType::stuff_friendly)) {
    if (window < small_window)
      return {Strategy::rag, 0.80,
              fmt::format(
                  "The {} of content do not fit into the {} that are free, and a window of {} is too small "
                  "to mix: retrieve what is needed.",
                  size, room, with_thousands(window))};
    return {
        Strategy::hybrid, 0.75,
        fmt::format(
            "The {} of content do not fit into the {} that are free, but are few enough to mix: include the "
            "most relevant parts and retrieve the rest when needed.",
            size, room)};
  }
  if (content > graph_content)
    return {
        Strategy::rag_graph, 0.70,
        fmt::format("The {} of content are more than {}: a ranked list would miss how its parts are related, "
                    "so search an index of entities.",
                    size, with_thousands(graph_content))};
  return {
      Strategy::rag, 0.80,
      fits ? fmt::format(
                 "The {} of content are more than {}, too much to read for one answer: retrieve and rank "
                 "the best passages.",
                 size, with_thousands(large_content))
           : fmt::format("The {} of content do not fit into the {} that are free: retrieve and rank the best "
                         "passages.",
                         size, room)};
}

Tokens retrieval_budget(Strategy strategy, Tokens budget) {
  switch (strategy) {
    case Strategy::stuff: return 0;
    case Strategy::hybrid: return std::min(budget, std::max(least_retrieval, tenths_of(budget, 3)));
    case Strategy::rag:
    case Strategy::rag_graph: break;
  }
  return std::min(budget, std::max(least_retrieval, tenths_of(budget, 7)));
}

}  // namespace

std::string_view name_of(Strategy strategy) {
  switch (strategy) {
    case Strategy::stuff: return "STUFF";
    case Strategy::hybrid: return "HYBRID";
    case Strategy::rag: return "RAG";
    case Strategy::rag_graph: return "RAG+GRAPH";
  }
  return "HYBRID";
}

StrategyDecision decide_strategy(const Task& task, const ContentEstimate& content,
                                 Tokens model_context_length, Tokens used_tokens,
                                 std::span<const std::string> available_tools) {
  StrategyDecision decision;
  decision.task = task;
  decision.content = content;
  decision.content.tokens = std::max<Tokens>(content.tokens, 0);
  decision.model_context_length = std::max<Tokens>(model_context_length, 0);
  decision.used_tokens = std::max<Tokens>(used_tokens, 0);
  const Tokens window = decision.model_context_length;
  const Tokens overhead = window / 4;  // system prompt, tools and the answer
  decision.available_budget = std::max<Tokens>(0, window - overhead - decision.used_tokens);
  decision.utilization_pct = percent(decision.content.tokens, window);

  Verdict verdict = verdict_on(task.type, decision.content.tokens, window, decision.available_budget);
  decision.strategy = verdict.strategy;
  decision.confidence = verdict.confidence;
  decision.reasoning = std::move(verdict.reasoning);
  decision.retrieval_budget_tokens = retrieval_budget(decision.strategy, decision.available_budget);
  decision.steps = strategy::steps_of(decision, available_tools);
  return decision;
}

std::optional<Strategy> strategy_named(std::string_view name) {
  const std::string lower = base::to_lower_ascii(name);
  for (const Strategy one : {Strategy::stuff, Strategy::hybrid, Strategy::rag, Strategy::rag_graph})
    if (base::to_lower_ascii(name_of(one)) == lower) return one;
  return std::nullopt;
}

StrategyDecision with_strategy(StrategyDecision decided, Strategy wanted,
                               std::span<const std::string> available_tools) {
  const bool is_refused = decided.task.crisis && wanted == Strategy::stuff;
  const Strategy taken = is_refused ? Strategy::hybrid : wanted;
  decided.reasoning = fmt::format("The request asks for {}{}. By rule it would be {}: {}", name_of(wanted),
                                  is_refused ? ", but a crisis is never pasted without retrieval" : "",
                                  name_of(decided.strategy), decided.reasoning);
  decided.strategy = taken;
  decided.confidence = 1;
  decided.retrieval_budget_tokens = retrieval_budget(taken, decided.available_budget);
  decided.steps = strategy::steps_of(decided, available_tools);
  return decided;
}

StrategyDecision context_strategy(const StrategyAsk& ask) {
  ContentEstimate content = estimate_content(ask.char_count, ask.file_bytes, ask.content_size_hint);
  if (ask.counted && content.source != ContentSource::char_count) {
    // Adds files that could not be counted by their size.
    const bool with_sizes = content.source == ContentSource::file_sizes;
    const Tokens counted = std::max<Tokens>(*ask.counted, 0);
    const Tokens room = std::numeric_limits<Tokens>::max() - counted;
    content = {counted + (with_sizes ? std::min(content.tokens, room) : 0), ContentSource::counted,
               with_sizes ? Exactness::estimated : ask.counted_exactness};
  }
  return decide_strategy(classify(ask.query), content, ask.model_context_length, ask.used_tokens,
                         ask.available_tools);
}

}  // namespace plimsoll
