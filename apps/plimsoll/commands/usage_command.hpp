// plimsoll usage: shows the token usage of the gateway's clients.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_usage_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
