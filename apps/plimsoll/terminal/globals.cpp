#include "terminal/globals.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "base/log.hpp"
#include "config/settings.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {

Result<config::Settings> load_settings(const Globals& globals) {
  auto settings = config::load_settings(globals.config_file, globals.set);
  if (settings) log::start(settings->effective_log_level(), settings->log_format);
  return settings;
}

std::string as_arguments(const Globals& globals) {
  std::string out;
  if (!globals.config_file.empty()) out += " --config " + as_argument(globals.config_file);
  for (const std::string& one : globals.set) {
    const base::Setting* const setting = config::find_setting(one.substr(0, one.find('=')));
    if (setting != nullptr && !setting->is_secret()) out += " --set " + as_argument(one);
  }
  return out;
}

int complain(const Error& error) {
  fmt::print(stderr, "plimsoll: {}\n", error.what);
  switch (error.code) {
    case Errc::bad_input:
    case Errc::not_found:
    case Errc::unknown_setting:
    case Errc::bad_setting:
    case Errc::unknown_model:
    case Errc::unsupported: return 2;
    case Errc::over_budget:
    case Errc::damaged:
    case Errc::io_failed:
    case Errc::timed_out:
    case Errc::unreachable:
    case Errc::upstream_failed: return 1;
  }
  return 1;
}

}  // namespace plimsoll
