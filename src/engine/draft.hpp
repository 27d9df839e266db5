// A request counted for one model: what every part costs, and so what wants to go aboard.
#pragma once

#include "engine/parts.hpp"
#include "plimsoll/plan.hpp"

namespace plimsoll::engine {

struct Draft {
  ChatCount counted;  // the request as given, without facts and passages
  budget::Wants wants;
  Load load;
  Policy policy = Policy::balanced;
};

// A message with its images and the format's own tokens that would leave with it.
Tokens whole_message(const ChatCount& counted, std::size_t message);

// The same load for a window of another size: the rules' bounds follow it.
Result<Load> load_for(const Draft& draft, const RequestParts& parts, Tokens window,
                      const PlanOptions& options);

// What rule B1 counts of a history: all of it, up to a quarter of the window. What is longer gives way to
// passages before they give way to it; else a long conversation would leave no room for any.
Tokens history_counted(Tokens turns, Tokens window);

Result<Draft> draft_plan(const RequestParts& parts, const PlanModel& model, const PlanOptions& options);

}  // namespace plimsoll::engine
