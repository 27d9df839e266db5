// plimsoll wrap: runs another program with the gateway in front of its models.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "terminal/globals.hpp"

namespace plimsoll {

// Takes out the `--` before the program of `plimsoll wrap [OPTIONS] -- PROGRAM...`, which CLI11 would read as
// the end of all options, the program's too.
void leave_out_separator(std::vector<std::string>& words);

void add_wrap_command(CLI::App& app, const Globals& globals, int& exit_code);

}  // namespace plimsoll
