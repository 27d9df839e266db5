// What every command shares: the flags before its name, the settings they lead to, and how it fails.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/settings/settings.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll {

struct Globals {
  std::string config_file;       // --config FILE; empty: the usual places
  std::vector<std::string> set;  // --set key=value, as often as given
};

// The settings, with logging started as they say.
Result<base::Settings> load_settings(const Globals& globals);

// The store that a command works on: the one that --store gives, or the one of the settings.
std::filesystem::path store_of(const base::Settings& settings, const std::string& given);

// What was said before the command, to be said again: " --config ship.toml", or nothing. Without secrets.
std::string as_arguments(const Globals& globals);

// Says on stderr what went wrong and returns the exit code: 2 where the user can mend what was given,
// 1 for everything else.
int complain(const Error& error);

}  // namespace plimsoll
