// plimsoll strategy: whether to paste, to mix or to retrieve, for a query and what it is about.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_strategy_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
