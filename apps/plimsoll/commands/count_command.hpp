// plimsoll count: exact tokens of files, of standard input, of JSON lines, of a chat request.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_count_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
