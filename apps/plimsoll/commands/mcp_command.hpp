// plimsoll mcp: serves tools to agents on standard input and output.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_mcp_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
