// plimsoll models: lists models and windows of servers or of the catalogue.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_models_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
