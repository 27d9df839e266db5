// Hidden commands that packages use: `plimsoll completions SHELL` and `plimsoll man`.
#pragma once

#include <CLI/CLI.hpp>

namespace plimsoll {

// The other commands may be added later; they are described when a command runs.
void add_describe_commands(CLI::App& app, int& exit_code);

}  // namespace plimsoll
