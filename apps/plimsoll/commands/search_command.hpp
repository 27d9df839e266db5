// `plimsoll search`: finds passages of an index for a query, within a token budget.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_search_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
