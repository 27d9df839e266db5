// `plimsoll eval turns`.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_eval_turns(CLI::App& eval_command, const Globals& globals, int& exit_code);

}  // namespace plimsoll
