// A request counted for one model: the cost of each part, and the load for the budget.
#pragma once

#include <limits>

#include "chat/chat_request.hpp"
#include "plimsoll/plan.hpp"

namespace plimsoll::engine {

struct Draft {
  ChatCount counted;  // the original request, without facts and passages
  budget::Wants wants;
  Load load;
  std::vector<Tokens> earlier;  // of each earlier turn
  Tokens all_earlier = 0;       // with the text around them; part of load.summary
  Policy policy = Policy::balanced;
  bool window_is_known = true;  // false: the default window, for which rule B1 does not change top_k
};

// Returns the tokens of a message with its images and its share of the template.
Tokens whole_message(const ChatCount& counted, std::size_t message);

// Upper limit for passages by rule B1 or B4, or by the request's budget.
struct ContextBounds {
  std::optional<Tokens> limit;  // none: no rule applies
  std::int64_t most_passages = std::numeric_limits<std::int64_t>::max();
};
Result<ContextBounds> context_bounds(const Draft& draft, const chat::ChatRequest& parts, Tokens window,
                                     const PlanOptions& options);

// Returns the same load for another window; the bounds of the rules change with it.
Result<Load> load_for(const Draft& draft, const chat::ChatRequest& parts, Tokens window,
                      const PlanOptions& options);

Result<Draft> draft_plan(const chat::ChatRequest& parts, const chat::Additions& with, const PlanModel& model,
                         const PlanOptions& options);

}  // namespace plimsoll::engine
