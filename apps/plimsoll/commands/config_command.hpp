// plimsoll config: every setting with its value, where that came from, and what it means.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

// `globals` and `exit_code` outlive the parsing of `app`.
void add_config_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
