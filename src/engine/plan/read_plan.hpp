// A plan read back from plan_json, to be drawn again.
#pragma once

#include <string_view>

#include "plimsoll/plan.hpp"

namespace plimsoll::engine {

// What plan_json writes, but for the parts of the strategy that are not drawn and the request itself. Fields
// that are not there stay as they are in an empty plan. damaged for what is no plan.
Result<Plan> read_plan(std::string_view json);

}  // namespace plimsoll::engine
