// Reads a plan from plan_json, to draw it again.
#pragma once

#include <string_view>

#include "plimsoll/plan.hpp"

namespace plimsoll::engine {

// Reads what plan_json writes, except the request and the parts of the strategy that are not drawn. Missing
// fields keep their default. damaged: not a plan.
Result<Plan> read_plan(std::string_view json);

}  // namespace plimsoll::engine
