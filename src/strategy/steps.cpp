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
    {"web_extract", "Load whole web pages with web_extract."},
};
constexpr ToolStep hybrid_tools[] = {
    {"read_file", "Read the chosen files with read_file."},
    {"web_extract", "Load the chosen pages with web_extract."},
    {"session_search", "Search earlier messages with session_search."},
    {"memory", "Search memory for stored facts on this."},
    {"web_search", "Close gaps and check doubtful points with web_search."},
};
constexpr ToolStep rag_tools[] = {
    {"web_search", "Find candidate sources with web_search."},
    {"session_search", "Search earlier conversations with session_search."},
    {"memory", "Search memory for stored facts on this."},
    {"web_extract", "Open only the best two or three pages with web_extract."},
    {"read_file", "Read only the sections that were found with read_file."},
};
constexpr ToolStep graph_tools[] = {
    {"session_search", "Search earlier conversations with session_search."},
    {"memory", "Search memory for stored facts on this."},
    {"web_search", "Use web_search for what the index does not have."},
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
      steps.add("Put the whole content into the context unchanged.");
      steps.add_for(stuff_tools);
      steps.add("Retrieve nothing: the model sees everything.");
      return;
    case Strategy::hybrid:
      steps.add("Pick the three to five documents or sections that matter most.");
      steps.add("Put those into the context whole.");
      steps.add_for(hybrid_tools);
      steps.add(fmt::format("Keep retrieved text within {} tokens, and everything together within {}.", room,
                            with_thousands(decision.available_budget)));
      return;
    case Strategy::rag:
      steps.add("Paste no whole documents; retrieve passages.");
      steps.add_for(rag_tools);
      steps.add("Rerank the passages by relevance before including them.");
      steps.add(fmt::format("Stop at {} tokens of passages.", room));
      steps.add("Check critical facts in a second source.");
      return;
    case Strategy::rag_graph:
      steps.add("Ranking passages alone will miss links in this much content.");
      steps.add("Build an index of entities and their relations, or use the existing one.");
      steps.add("Search it for the entities in the question and their neighbours.");
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
    steps.add("Make room first: the window is full. Compress the history or use a larger window.");
  add_strategy(steps, decision);
  if (decision.task.type == TaskType::rag_critical)
    steps.add("Precision matters here: verify every retrieved fact and cite its source.");
  return steps.take();
}

}  // namespace plimsoll::strategy
