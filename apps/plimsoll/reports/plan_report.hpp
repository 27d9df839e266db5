// Prints a plan: the window drawn to scale, the grants, what was left out and why.
#pragma once

#include <string>

#include "plimsoll/plan.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {

std::string plan_report(const Plan& plan, const Terminal& terminal);

// Draws the window as one line of cells, each section in its colour, or with its letter without colours.
std::string window_bar(const Plan& plan, const Terminal& terminal);

}  // namespace plimsoll
