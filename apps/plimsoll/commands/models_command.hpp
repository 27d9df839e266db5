// plimsoll models: the catalogue, or what a server really serves.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_models_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
