// plimsoll serve: runs the gateway.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_serve_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
