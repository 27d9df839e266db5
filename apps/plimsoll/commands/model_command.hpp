// `plimsoll model`: lists and downloads models for the embedded adapter.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_model_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
