// Prints settings as a table for people or as JSON for programs. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/settings/settings_table.hpp"

namespace plimsoll::base {

struct Page {
  std::optional<std::size_t> columns;  // none: not a terminal, one line per setting
  bool colour = false;
};

// Prints the columns key, value, origin and meaning. On a narrow page the meaning goes below.
// No line is wider than the page; control characters in values are shown as \x1b.
std::string settings_table(const SettingParts& settings, std::span<const Setting* const> which,
                           const Page& page);

// Returns a list of {key, value, origin, allowed, environment, meaning}; value is null if not set.
std::string settings_json(const SettingParts& settings, std::span<const Setting* const> which);

// Returns the settings with these keys, in this order; all settings if `keys` is empty. The error
// unknown_setting names the first unknown key and the nearest known one.
Result<std::vector<const Setting*>> select_settings(SettingList all, std::span<const std::string> keys);

}  // namespace plimsoll::base
