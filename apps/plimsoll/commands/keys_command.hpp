// plimsoll keys: manages API keys and their limits.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_keys_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
