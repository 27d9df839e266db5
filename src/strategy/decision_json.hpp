// A decision as JSON for the tool's result: the fields of rule S9, then `crisis` and its inputs.
#pragma once

#include <nlohmann/json.hpp>

#include "plimsoll/strategy.hpp"

namespace plimsoll::strategy {

nlohmann::ordered_json to_json(const StrategyDecision& decision);

}  // namespace plimsoll::strategy
