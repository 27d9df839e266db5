// Verbs of the strategy.
#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "plimsoll/strategy.hpp"
#include "scenario.hpp"

namespace plimsoll::scenarios {
namespace {

ContextBudget budget_of(const Line& line) {
  return {line.number("length", 256'000), line.number("used"), line.number("threshold", 128'000), true};
}

std::string decision_line(const Line& line) {
  StrategyAsk ask;
  ask.query = line.text("query");
  if (line.has("tokens")) ask.counted = line.number("tokens");
  if (line.has("chars")) ask.char_count = line.number("chars");
  if (line.has("hint")) ask.content_size_hint = content_size_named(line.text("hint"));
  for (const std::string& bytes : split(line.text("files"), ',')) ask.file_bytes.push_back(std::stoll(bytes));
  ask.model_context_length = line.number("window", 128'000);
  ask.used_tokens = line.number("used");
  const StrategyDecision decision = context_strategy(ask);
  return fmt::format("{} {:.2f}, {} tokens of {}, retrieve {}, {:.1f} % of the window, {}{}",
                     name_of(decision.strategy), decision.confidence, decision.content.tokens,
                     decision.available_budget, decision.retrieval_budget_tokens, decision.utilization_pct,
                     name_of(decision.task.type), decision.task.crisis ? ", crisis" : "");
}

// Those of the named words that some step has.
std::string steps_line(const Line& line) {
  StrategyAsk ask;
  ask.query = line.text("query");
  ask.counted = line.number("tokens");
  ask.model_context_length = line.number("window", 128'000);
  ask.available_tools = split(line.text("tools"), ',');
  const StrategyDecision decision = context_strategy(ask);
  std::string out(name_of(decision.strategy));
  for (const std::string& word : split(line.text("mention"), ',')) {
    const bool found = std::ranges::any_of(
        decision.steps, [&](const std::string& step) { return step.find(word) != std::string::npos; });
    out += fmt::format(" {}:{}", word, found ? "yes" : "no");
  }
  return out;
}

}  // namespace

std::optional<std::string> play_strategy(const Line& line) {
  if (line.verb == "pressure") {
    const ContextBudget budget = budget_of(line);
    return fmt::format("{:.3f} {}", budget.pressure(), name_of(budget.level()));
  }
  if (line.verb == "prefetch") {
    const Prefetch fetch = prefetch(budget_of(line), line.number("base", 5));
    return fmt::format("limit {} min_trust {:.1f}{}", fetch.limit, fetch.min_trust,
                       fetch.skip ? " skip" : "");
  }
  if (line.verb == "should_prefetch")
    return should_prefetch(budget_of(line), line.text("query")) ? "yes" : "no";
  if (line.verb == "report") {
    const std::string report = pressure_report(budget_of(line));
    return report.find(line.text("has")) != std::string::npos ? "has it" : report;
  }
  if (line.verb == "classify") {
    const Task task = classify(line.text("query"));
    return fmt::format("{}{}{}", name_of(task.type), task.crisis ? " crisis" : "",
                       task.signal.empty() ? "" : fmt::format(" by {}", task.signal));
  }
  if (line.verb == "strategy") return decision_line(line);
  if (line.verb == "steps") return steps_line(line);
  return std::nullopt;
}

}  // namespace plimsoll::scenarios
