#include "base/settings/log_settings.hpp"

#include <algorithm>
#include <array>

namespace plimsoll::base {
namespace {

// In the order of log::Level and log::Format.
constexpr std::array<std::string_view, 6> level_words{"trace", "debug", "info", "warning", "error", "off"};
constexpr std::array<std::string_view, 2> format_words{"text", "json"};

}  // namespace

std::span<const Setting> log_settings() {
  static const std::array declared{
      Setting{"debug", "DEBUG", Flag{&LogSettings::debug}, "Log debug lines too, whatever log_level says."},
      Setting{"log_level", "", choice(&LogSettings::log_level, level_words), "Lowest level that is logged."},
      Setting{"log_format", "", choice(&LogSettings::log_format, format_words),
              "Format of log lines: text for people, or one JSON object per line."},
  };
  return declared;
}

log::Level LogSettings::effective_log_level() const {
  return debug ? std::min(log_level, log::Level::debug) : log_level;
}

}  // namespace plimsoll::base
