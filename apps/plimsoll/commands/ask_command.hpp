// plimsoll ask: answers one question in the terminal.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_ask_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
