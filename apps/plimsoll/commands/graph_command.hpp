// plimsoll graph: shows the names of an index and what they connect.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_graph_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
