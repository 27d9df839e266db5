#include "strategy/steps.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text/text.hpp"

namespace plimsoll::strategy {
namespace {

using base::with_thousands;

struct ToolStep {
  std::string_view tool;
  std::string_view step;
};

constexpr ToolStep stuff_tools[] = {
    {"read_file", "Read each file whole with read_file."},
    {"web_extract", "Take web pages in whole with web_extract."},
};
constexpr ToolStep hybrid_tools[] = {
    {"read_file", "Read the chosen files with read_file."},
    {"web_extract", "Take the chosen pages in with web_extract."},
    {"session_search", "Look for what was said earlier with session_search."},
    {"memory", "Ask memory for facts that were kept on this."},
    {"web_search", "Close gaps and check doubtful points with web_search."},
};
constexpr ToolStep rag_tools[] = {
    {"web_search", "Find candidate sources with web_search."},
    {"session_search", "Look for earlier conversations on it with session_search."},
    {"memory", "Ask memory for facts that were kept on this."},
    {"web_extract", "Open only the best two or three pages with web_extract."},
    {"read_file", "Read only the sections that were found with read_file."},
};
constexpr ToolStep graph_tools[] = {
    {"session_search", "Look for earlier conversations on it with session_search."},
    {"memory", "Ask memory for facts that were kept on this."},
    {"web_search", "Fall back on web_search for what the index does not hold."},
};

class Steps {
 public:
  explicit Steps(std::span<const std::string> tools) : tools_(tools) {}
  void add(std::string_view step) { list_.emplace_back(step); }
  void add_for(std::span<const ToolStep> steps) {
    for (const ToolStep& one : steps) {
      if (std::ranges::find(tools_, one.tool) != tools_.end()) add(one.step);
    }
  }
  std::vector<std::string> take() { return std::move(list_); }

 private:
  std::span<const std::string> tools_;
  std::vector<std::string> list_;
};

void add_strategy(Steps& steps, const StrategyDecision& decision) {
  const std::string room = with_thousands(decision.retrieval_budget_tokens);
  switch (decision.strategy) {
    case Strategy::stuff:
      steps.add("Put all of the content into the context as it is.");
      steps.add_for(stuff_tools);
      steps.add("Retrieve nothing: the model sees everything.");
      return;
    case Strategy::hybrid:
      steps.add("Pick the three to five documents or sections that matter most.");
      steps.add("Put those into the context whole.");
      steps.add_for(hybrid_tools);
      steps.add(fmt::format("Keep what is retrieved within {} tokens, and everything together within {}.",
                            room, with_thousands(decision.available_budget)));
      return;
    case Strategy::rag:
      steps.add("Paste no whole documents; retrieve passages.");
      steps.add_for(rag_tools);
      steps.add("Rank the passages anew by relevance before they go in.");
      steps.add(fmt::format("Stop at {} tokens of passages.", room));
      steps.add("Check facts that must be right in a second source.");
      return;
    case Strategy::rag_graph:
      steps.add("Ranking passages alone will miss links in this much content.");
      steps.add("Build an index of entities and how they relate, or use the one there is.");
      steps.add("Ask it for the entities in the question and their neighbours.");
      steps.add("Retrieve only the passages of that part.");
      steps.add_for(graph_tools);
      steps.add(fmt::format("Stop at {} tokens of passages.", room));
      return;
  }
}

}  // namespace

std::vector<std::string> steps_of(const StrategyDecision& decision, std::span<const std::string> tools) {
  Steps steps(tools);
  if (decision.task.crisis)
    steps.add(
        "Crisis: a person may be in danger. Answer with care before anything else, name a local emergency "
        "number or crisis line, and give only facts and contacts from verified sources.");
  if (decision.available_budget == 0)
    steps.add(
        "Make room first: nothing fits beside what is used. Compress the history or take a larger window.");
  add_strategy(steps, decision);
  if (decision.task.type == TaskType::rag_critical)
    steps.add("Precision matters here: verify every retrieved fact and cite its source.");
  return steps.take();
}

}  // namespace plimsoll::strategy
