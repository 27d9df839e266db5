// Values of settings: how they are read, checked, stored and shown.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/settings/setting.hpp"

namespace plimsoll::base {

// All settings, in display order.
using SettingList = std::span<const Setting>;

// Finds a setting by its key in lower or upper case; null if there is none.
const Setting* find_setting(SettingList all, std::string_view key);

// A value before it is checked against its setting.
struct RawValue {
  using Held = std::variant<std::string, std::int64_t, double, bool, std::vector<std::string>>;
  Held held;
  bool typed = false;  // from TOML, where "2" is not 2; in the environment everything is text
};

// Stores a value. The error bad_setting names key, value, origin and allowed values; a secret is shown as
// ***.
Result<void> assign(SettingParts& settings, const Setting& setting, const RawValue& raw,
                    std::string_view origin);
tl::unexpected<Error> bad_value(const Setting& setting, std::string_view shown, std::string_view origin);

// Returns the error unknown_setting: "unknown setting 'min_topk' (file a.toml:3); did you mean 'min_top_k'?".
// `prefix` is shown before the name and the suggestion but is not part of the comparison. If the name is in
// upper case, so is the suggestion.
tl::unexpected<Error> unknown_setting(SettingList all, std::string_view name, std::string_view origin,
                                      std::string_view prefix = {});

// "a whole number from 1 to 300".
std::string allowed_values(const Setting& setting);

// Returns the value for display. monostate: not set. A secret that is set is "***", and so is a password in
// a URL.
using ShownValue =
    std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::string>>;
ShownValue shown_value(const SettingParts& settings, const Setting& setting);
std::string shown_text(const SettingParts& settings, const Setting& setting);

}  // namespace plimsoll::base
