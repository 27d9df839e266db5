// The user's folders by the XDG Base Directory rules, and the environment they depend on.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace plimsoll::base {

using Environment = std::map<std::string, std::string, std::less<>>;

// Returns the environment of this process. A missing HOME is taken from the user database.
Environment current_environment();

// Returns the value of a variable; an empty one counts as absent, as in XDG.
std::string_view value_of(const Environment& environment, std::string_view name);

// $XDG_CACHE_HOME/plimsoll, else $HOME/.cache/plimsoll, else /var/cache/plimsoll: data that the set-up can
// recreate. A relative path in an XDG variable is ignored.
std::filesystem::path cache_folder(const Environment& environment);

// $XDG_DATA_HOME/plimsoll, else $HOME/.local/share/plimsoll, else /var/lib/plimsoll: data that exists only
// here.
std::filesystem::path data_folder(const Environment& environment);

// $XDG_CONFIG_HOME/plimsoll, else $HOME/.config/plimsoll, else /etc/plimsoll: the user's settings.
std::filesystem::path config_folder(const Environment& environment);

}  // namespace plimsoll::base
