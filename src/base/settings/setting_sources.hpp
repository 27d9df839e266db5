// The sources of settings, in their order:
//
//   built-in default  <  TOML file  <  environment  <  --set key=value
//
// An unknown key or a value that is not allowed is an error that names the key, its source and what is
// allowed; nothing is ignored silently. docs/settings.md is the manual.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/paths.hpp"
#include "base/settings/settings_table.hpp"

namespace plimsoll::base {

struct ConfigFile {
  std::string path;  // as errors and origins show it
  std::string text;
};

struct SettingSources {
  std::optional<ConfigFile> file;
  Environment environment;
  std::vector<std::string> assignments;  // "key=value", as given to --set; a later one wins
  std::filesystem::path shipped{};       // share/plimsoll of a release, beside bin/; empty: none
};

// Combines the sources. Fails with unknown_setting or bad_setting and a message for the user. Pure.
Result<void> apply(SettingParts& settings, SettingList all, const SettingSources& sources);

// Reads the process environment and the file: `config_file` if not empty, else the one that PLIMSOLL_CONFIG
// names, else plimsoll.toml in the config folder if it exists.
Result<SettingSources> read_sources(const std::filesystem::path& config_file,
                                    std::span<const std::string> assignments);

}  // namespace plimsoll::base
