// plimsoll inspect: shows the traces of requests that the gateway stores.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_inspect_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
