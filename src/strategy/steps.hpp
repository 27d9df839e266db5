// What to do next, in sentences, by strategy and by the tools at hand.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "plimsoll/strategy.hpp"

namespace plimsoll::strategy {

// `decision` has everything but its steps.
std::vector<std::string> steps_of(const StrategyDecision& decision, std::span<const std::string> tools);

}  // namespace plimsoll::strategy
