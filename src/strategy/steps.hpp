// The next steps in sentences, by strategy and available tools.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "plimsoll/strategy.hpp"

namespace plimsoll::strategy {

// `decision` is complete except for its steps.
std::vector<std::string> steps_of(const StrategyDecision& decision, std::span<const std::string> tools);

}  // namespace plimsoll::strategy
