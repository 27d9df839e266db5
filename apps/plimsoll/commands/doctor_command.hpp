// `plimsoll doctor`: whether everything that the gateway stands on is sound, and what to do where it is not.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_doctor_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
