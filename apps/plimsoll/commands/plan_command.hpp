// plimsoll plan: shows how a chat request would use the window, without sending it.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_plan_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
