#include "base/settings/setting_sources.hpp"

#include <algorithm>

#include <toml++/toml.h>

#include "base/files.hpp"
#include "base/settings/settings_table.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"

namespace plimsoll::base {
namespace {

constexpr std::string_view prefix = "PLIMSOLL_";
constexpr std::string_view config_variable = "PLIMSOLL_CONFIG";  // names the file; not a setting
constexpr std::uint64_t config_limit_bytes = 1'000'000;          // a typical file has a few kilobytes

std::string origin_in(const ConfigFile& file, const toml::source_region& region) {
  return fmt::format("file {}:{}", file.path, region.begin.line);
}

// Converts a TOML value; none for a type that no setting has.
std::optional<RawValue> raw_from(const toml::node& node) {
  RawValue raw;
  raw.typed = true;
  if (const auto* text = node.as_string()) {
    raw.held = text->get();
  } else if (const auto* whole = node.as_integer()) {
    raw.held = whole->get();
  } else if (const auto* real = node.as_floating_point()) {
    raw.held = real->get();
  } else if (const auto* flag = node.as_boolean()) {
    raw.held = flag->get();
  } else if (const toml::array* array = node.as_array()) {
    std::vector<std::string> names;
    for (const toml::node& element : *array) {
      const auto* name = element.as_string();
      if (name == nullptr) return std::nullopt;
      names.push_back(name->get());
    }
    raw.held = std::move(names);
  } else {
    return std::nullopt;
  }
  return raw;
}

std::string_view kind_of(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (node.is_array()) return "an array with elements that are not strings";
  return "a date or time";
}

Result<void> apply_file(SettingParts& settings, SettingList all, const ConfigFile& file) {
  toml::table table;
  try {
    table = toml::parse(file.text, file.path);
  } catch (const toml::parse_error& error) {
    return fail(Errc::bad_setting, "{}:{}: not TOML: {}", file.path, error.source().begin.line,
                error.description());
  }
  for (const auto& [key, node] : table) {
    const std::string origin = origin_in(file, key.source());
    const Setting* setting = find_setting(all, key.str());
    if (setting == nullptr) return unknown_setting(all, key.str(), origin);
    if (const auto before = settings.origins.find(setting->key); before != settings.origins.end())
      return fail(Errc::bad_setting, "{} is set twice ({} and {})", setting->key, before->second, origin);
    const std::optional<RawValue> raw = raw_from(node);
    if (!raw) return bad_value(*setting, kind_of(node), origin);
    TRY_VOID(assign(settings, *setting, *raw, origin));
  }
  return {};
}

Result<void> refuse_unknown_variables(SettingList all, const Environment& environment) {
  for (auto entry = environment.lower_bound(prefix);
       entry != environment.end() && entry->first.starts_with(prefix); ++entry) {
    const std::string_view key = std::string_view(entry->first).substr(prefix.size());
    const Setting* setting = find_setting(all, key);
    const bool known = setting != nullptr && setting->prefixed_environment() == entry->first;
    if (!known && entry->first != config_variable) return unknown_setting(all, key, "environment", prefix);
  }
  return {};
}

// Returns the names of a setting's environment variables; later ones override earlier ones.
std::vector<std::string> variables_of(const Setting& setting) {
  std::vector<std::string> names;
  if (!setting.environment.empty()) {
    names.emplace_back(setting.environment);
    if (const std::string capitals = to_upper_ascii(setting.environment); capitals != setting.environment)
      names.push_back(capitals);
  }
  names.push_back(setting.prefixed_environment());
  return names;
}

Result<void> apply_environment(SettingParts& settings, SettingList all, const Environment& environment) {
  TRY_VOID(refuse_unknown_variables(all, environment));
  for (const Setting& setting : all)
    for (const std::string& name : variables_of(setting)) {
      const std::string_view value = value_of(environment, name);
      if (value.empty()) continue;
      auto taken = assign(settings, setting, RawValue{std::string(value)}, "environment " + name);
      // Other programs use DEBUG with other values, so a value that we cannot read is not an error.
      if (!taken && name != "DEBUG") return taken;
    }
  return {};
}

Result<void> apply_flags(SettingParts& settings, SettingList all, std::span<const std::string> assignments) {
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos)
      return fail(Errc::bad_setting, "--set needs key=value; got '{}'", assignment.substr(0, 80));
    const std::string_view key = trim(std::string_view(assignment).substr(0, equals));
    const Setting* setting = find_setting(all, key);
    if (setting == nullptr) return unknown_setting(all, key, "flag --set");
    TRY_VOID(assign(settings, *setting, RawValue{assignment.substr(equals + 1)}, "flag"));
  }
  return {};
}

Result<std::optional<ConfigFile>> read_config(const std::filesystem::path& given,
                                              const Environment& environment) {
  std::filesystem::path path = given;
  if (path.empty()) path = value_of(environment, config_variable);
  const bool asked_for = !path.empty();
  if (!asked_for) path = config_folder(environment) / "plimsoll.toml";
  auto text = read_file(path, config_limit_bytes);
  if (!text && !asked_for && text.error().code == Errc::not_found) return std::nullopt;
  if (!text) return tl::unexpected(std::move(text).error());
  return ConfigFile{path.string(), *std::move(text)};
}

}  // namespace

Result<void> apply(SettingParts& settings, SettingList all, const SettingSources& sources) {
  if (sources.file) TRY_VOID(apply_file(settings, all, *sources.file));
  TRY_VOID(apply_environment(settings, all, sources.environment));
  return apply_flags(settings, all, sources.assignments);
}

Result<SettingSources> read_sources(const std::filesystem::path& config_file,
                                    std::span<const std::string> assignments) {
  SettingSources sources;
  sources.environment = current_environment();
  TRY(sources.file, read_config(config_file, sources.environment));
  sources.assignments.assign(assignments.begin(), assignments.end());
  return sources;
}

}  // namespace plimsoll::base
