// The settings as a table for people and as JSON for programs. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/settings/settings_table.hpp"

namespace plimsoll::base {

struct Page {
  std::optional<std::size_t> columns;  // none: not a terminal, every setting stays on one line
  bool colour = false;
};

// Columns key, value, origin and meaning. Where a page is too narrow for them the meaning goes below.
// No line is wider than the page; a value's control characters are shown as \x1b.
std::string settings_table(const Settings& settings, std::span<const Setting* const> which, const Page& page);

// A list of {key, value, origin, allowed, environment, meaning}; value is null where none is set.
std::string settings_json(const Settings& settings, std::span<const Setting* const> which);

// Those with these keys, in this order; all of them if there are no keys. unknown_setting names the first
// that does not exist and the nearest that does.
Result<std::vector<const Setting*>> select_settings(std::span<const std::string> keys);

}  // namespace plimsoll::base
