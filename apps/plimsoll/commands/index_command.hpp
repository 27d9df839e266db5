// `plimsoll index`: documents into an index and out of it.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_index_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
