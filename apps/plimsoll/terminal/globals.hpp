// Shared by all commands: global flags, settings and error reporting.
#pragma once

#include <string>
#include <vector>

#include "config/settings.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll {

struct Globals {
  std::string config_file;       // --config FILE; empty: the usual places
  std::vector<std::string> set;  // --set key=value, in the order given
};

// Loads the settings and starts logging.
Result<config::Settings> load_settings(const Globals& globals);

// Returns the global flags for a command line: " --config my.toml", or "". Without secrets.
std::string as_arguments(const Globals& globals);

// Prints the error on stderr and returns the exit code: 2 for wrong usage, 1 for everything else.
int complain(const Error& error);

}  // namespace plimsoll
