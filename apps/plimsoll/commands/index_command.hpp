// `plimsoll index`: adds, lists, removes and checks documents.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_index_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
