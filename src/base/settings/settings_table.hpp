// The table of all settings: name, member, allowed values and meaning.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/settings/settings.hpp"

namespace plimsoll::base {

// The member that a setting is stored in, and its allowed values.
struct Whole {
  std::int64_t Settings::*member;
  std::int64_t least;
  std::int64_t most;
};
struct OptionalWhole {
  std::optional<std::int64_t> Settings::*member;
  std::int64_t least;
  std::int64_t most;
  std::string_view absent;  // the word for "no value": "unlimited"
};
struct Real {
  double Settings::*member;
  double least;
  double most;
};
struct Flag {
  bool Settings::*member;
};
struct Text {  // one line
  std::string Settings::*member;
};
struct Url {
  std::string Settings::*member;
};
struct Names {
  std::vector<std::string> Settings::*member;
};
struct Path {
  std::filesystem::path Settings::*member;
};
struct SecretText {
  Secret Settings::*member;
};
struct Choice {  // an enumeration whose values are the indices of `words`
  std::span<const std::string_view> words;
  void (*set)(Settings&, std::size_t index);
  std::size_t (*get)(const Settings&);
};
using Binding = std::variant<Whole, OptionalWhole, Real, Flag, Text, Url, Names, Path, SecretText, Choice>;

struct Setting {
  std::string_view key;          // "min_top_k": in TOML, in --set, and PLIMSOLL_MIN_TOP_K
  std::string_view environment;  // name that other programs use for it, or ""
  Binding binding;
  std::string_view meaning;

  std::string prefixed_environment() const;  // "PLIMSOLL_MIN_TOP_K"
  bool is_secret() const { return std::holds_alternative<SecretText>(binding); }
};

// Returns all settings, in display order.
std::span<const Setting> all_settings();

// Finds a setting by its key in lower or upper case; null if there is none.
const Setting* find_setting(std::string_view key);

// A value before it is checked against its setting.
struct RawValue {
  using Held = std::variant<std::string, std::int64_t, double, bool, std::vector<std::string>>;
  Held held;
  bool typed = false;  // from TOML, where "2" is not 2; in the environment everything is text
};

// Stores a value. The error bad_setting names key, value, origin and allowed values; a secret is shown as
// ***.
Result<void> assign(Settings& settings, const Setting& setting, const RawValue& raw, std::string_view origin);
tl::unexpected<Error> bad_value(const Setting& setting, std::string_view shown, std::string_view origin);

// Returns the error unknown_setting: "unknown setting 'min_topk' (file a.toml:3); did you mean 'min_top_k'?".
// `prefix` is shown before the name and the suggestion but is not part of the comparison. If the name is in
// upper case, so is the suggestion.
tl::unexpected<Error> unknown_setting(std::string_view name, std::string_view origin,
                                      std::string_view prefix = {});

// "a whole number from 1 to 300".
std::string allowed_values(const Setting& setting);

// Returns the value for display. monostate: not set. A secret that is set is "***", and so is a password in
// a URL.
using ShownValue =
    std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::string>>;
ShownValue shown_value(const Settings& settings, const Setting& setting);
std::string shown_text(const Settings& settings, const Setting& setting);

}  // namespace plimsoll::base
