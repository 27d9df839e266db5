// A decision as the tool's result has it: the fields of rule S9, then `crisis` and what it rests on.
#pragma once

#include <nlohmann/json.hpp>

#include "plimsoll/strategy.hpp"

namespace plimsoll::strategy {

nlohmann::ordered_json to_json(const StrategyDecision& decision);

}  // namespace plimsoll::strategy
