// plimsoll count: counts tokens of files, standard input, JSON lines or a chat request.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_count_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
