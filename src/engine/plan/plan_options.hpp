// Converts settings to options of a plan.
#pragma once

#include "base/settings/settings.hpp"
#include "plimsoll/plan.hpp"

namespace plimsoll::engine {

PlanOptions plan_options(const base::Settings& settings);

}  // namespace plimsoll::engine
