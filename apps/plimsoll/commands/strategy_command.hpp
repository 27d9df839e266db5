// plimsoll strategy: advises whether to paste content, retrieve from it, or do both.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_strategy_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
