// `plimsoll search`: passages of an index that answer a query, within a budget of tokens.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_search_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
