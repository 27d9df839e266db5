// plimsoll keys: who may use the gateway, and how much.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_keys_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
