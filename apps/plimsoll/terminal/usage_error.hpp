// What a wrong command line is told: what is wrong, the nearest right word, and where the help is.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace plimsoll {

// Explains a parse error; an unknown command or option is named together with the nearest known one.
std::string usage_error(const CLI::App* app, const CLI::Error& error);

// `path`: the parent command, "plimsoll index".
std::string no_such_command(const CLI::App& parent, const std::string& path, const std::string& name);

}  // namespace plimsoll
