// `plimsoll doctor`: checks everything that the gateway needs, and says how to fix problems.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_doctor_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
