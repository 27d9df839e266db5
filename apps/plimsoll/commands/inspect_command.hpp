// plimsoll inspect: what became of requests, from the traces that the gateway keeps.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_inspect_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
