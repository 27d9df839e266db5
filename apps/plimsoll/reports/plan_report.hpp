// A plan for people: the window drawn to scale, who got what, what was left out and why.
#pragma once

#include <string>

#include "plimsoll/plan.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {

std::string plan_report(const Plan& plan, const Terminal& terminal);

// The window as one line of cells, each section in its colour, or by its letter where there are none.
std::string window_bar(const Plan& plan, const Terminal& terminal);

}  // namespace plimsoll
