// Converts settings to options of a plan.
#pragma once

#include "config/settings.hpp"
#include "plimsoll/plan.hpp"

namespace plimsoll {

PlanOptions plan_options(const config::Settings& settings);

}  // namespace plimsoll
