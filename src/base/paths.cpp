#include "base/paths.hpp"

#include <array>

#include <pwd.h>
#include <unistd.h>

namespace plimsoll::base {
namespace {

std::string home_from_user_database() {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
    return {};
  return entry.pw_dir;
}

std::filesystem::path folder_of(const Environment& environment, std::string_view variable,
                                std::string_view below_home, const std::filesystem::path& without_home) {
  const std::filesystem::path base(value_of(environment, variable));
  if (base.is_absolute()) return base / "plimsoll";
  const std::filesystem::path home(value_of(environment, "HOME"));
  if (home.is_absolute()) return home / below_home / "plimsoll";
  return without_home;
}

}  // namespace

Environment current_environment() {
  Environment environment;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view line(*entry);
    const std::size_t equals = line.find('=');
    if (equals == 0 || equals == std::string_view::npos) continue;
    environment.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  if (value_of(environment, "HOME").empty()) environment["HOME"] = home_from_user_database();
  return environment;
}

std::string_view value_of(const Environment& environment, std::string_view name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string_view{} : std::string_view(found->second);
}

std::filesystem::path cache_folder(const Environment& environment) {
  return folder_of(environment, "XDG_CACHE_HOME", ".cache", "/var/cache/plimsoll");
}

std::filesystem::path data_folder(const Environment& environment) {
  return folder_of(environment, "XDG_DATA_HOME", ".local/share", "/var/lib/plimsoll");
}

std::filesystem::path config_folder(const Environment& environment) {
  return folder_of(environment, "XDG_CONFIG_HOME", ".config", "/etc/plimsoll");
}

}  // namespace plimsoll::base
