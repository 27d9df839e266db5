#include "strategy/decision_json.hpp"

namespace plimsoll::strategy {

nlohmann::ordered_json to_json(const StrategyDecision& decision) {
  return {{"strategy", name_of(decision.strategy)},
          {"confidence", decision.confidence},
          {"reasoning", decision.reasoning},
          {"content_tokens", decision.content.tokens},
          {"available_budget", decision.available_budget},
          {"model_context_length", decision.model_context_length},
          {"used_tokens", decision.used_tokens},
          {"utilization_pct", decision.utilization_pct},
          {"task_type", name_of(decision.task.type)},
          {"retrieval_budget_tokens", decision.retrieval_budget_tokens},
          {"steps", decision.steps},
          {"crisis", decision.task.crisis},
          {"signal", decision.task.signal},
          {"content_source", name_of(decision.content.source)},
          {"exactness", name_of(decision.content.exactness)}};
}

}  // namespace plimsoll::strategy
