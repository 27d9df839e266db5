// Settings of the log.
#pragma once

#include <span>

#include "base/log.hpp"
#include "base/settings/setting.hpp"

namespace plimsoll::base {

struct LogSettings {
  bool debug = false;  // raises log_level to debug
  log::Level log_level = log::Level::info;
  log::Format log_format = log::Format::text;

  log::Level effective_log_level() const;  // with `debug` taken into account
};

// Their names, allowed values and meanings.
std::span<const Setting> log_settings();

}  // namespace plimsoll::base
