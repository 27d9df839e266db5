// A request counted for one model: what every part costs, and so what wants to go in.
#pragma once

#include <limits>

#include "engine/plan/parts.hpp"
#include "plimsoll/plan.hpp"

namespace plimsoll::engine {

struct Draft {
  ChatCount counted;  // the request as given, without facts and passages
  budget::Wants wants;
  Load load;
  Policy policy = Policy::balanced;
  bool window_is_known = true;  // and not the default, for which rule B1 leaves top_k as it was asked for
};

// A message with its images and the format's own tokens that would leave with it.
Tokens whole_message(const ChatCount& counted, std::size_t message);

// The most that passages may have by rule B1 or B4, or by the request's own budget.
struct ContextBounds {
  std::optional<Tokens> limit;  // none: no rule bounds them
  std::int64_t most_passages = std::numeric_limits<std::int64_t>::max();
};
Result<ContextBounds> context_bounds(const Draft& draft, const RequestParts& parts, Tokens window,
                                     const PlanOptions& options);

// The same load for a window of another size: the rules' bounds follow it.
Result<Load> load_for(const Draft& draft, const RequestParts& parts, Tokens window,
                      const PlanOptions& options);

Result<Draft> draft_plan(const RequestParts& parts, const PlanModel& model, const PlanOptions& options);

}  // namespace plimsoll::engine
