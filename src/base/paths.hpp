// Where things of this user lie, by the XDG Base Directory rules, and the environment they depend on.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace plimsoll::base {

using Environment = std::map<std::string, std::string, std::less<>>;

// The environment of this process. HOME is filled in from the user database where it is missing.
Environment current_environment();

// The value of a variable; an empty one counts as absent, as XDG has it.
std::string_view value_of(const Environment& environment, std::string_view name);

// $XDG_CACHE_HOME/plimsoll, else $HOME/.cache/plimsoll, else /var/cache/plimsoll: what set-up can make
// again. A relative path in an XDG variable is ignored.
std::filesystem::path cache_folder(const Environment& environment);

// $XDG_DATA_HOME/plimsoll, else $HOME/.local/share/plimsoll, else /var/lib/plimsoll: what only this machine
// has.
std::filesystem::path data_folder(const Environment& environment);

// $XDG_CONFIG_HOME/plimsoll, else $HOME/.config/plimsoll, else /etc/plimsoll: what the user wrote.
std::filesystem::path config_folder(const Environment& environment);

}  // namespace plimsoll::base
