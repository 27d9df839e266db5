// A plan as a tree of JSON, in the format of plan_json.
#pragma once

#include <nlohmann/json.hpp>

#include "plimsoll/plan.hpp"

namespace plimsoll::engine {

nlohmann::ordered_json plan_tree(const Plan& plan);

}  // namespace plimsoll::engine
