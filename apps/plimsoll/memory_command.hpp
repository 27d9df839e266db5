// `plimsoll memory`: what is remembered.
#pragma once

#include <CLI/CLI.hpp>

#include "globals.hpp"

namespace plimsoll {

void add_memory_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
