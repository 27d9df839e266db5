// plimsoll store: copies everything that one store holds into another.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_store_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
