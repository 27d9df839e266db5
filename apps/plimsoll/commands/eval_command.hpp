// `plimsoll eval`: measures the quality of retrieval and of the check of answers.
#pragma once

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

void add_eval_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
