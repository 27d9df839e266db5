// plimsoll wrap: runs another program with the gateway in front of its models.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_wrap_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
