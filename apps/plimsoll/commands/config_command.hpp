// plimsoll config: shows every setting with its value, its origin and its meaning.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

// `globals` and `exit_code` must outlive the parsing of `app`.
void add_config_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
