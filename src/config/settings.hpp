// All settings: those that each folder declares for itself, put together.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings/log_settings.hpp"
#include "base/settings/setting_sources.hpp"
#include "base/settings/settings_report.hpp"
#include "budget/passage_settings.hpp"
#include "conversation/history_settings.hpp"
#include "count/tokenizer_settings.hpp"
#include "gateway/gateway_settings.hpp"
#include "ledger/trace_settings.hpp"
#include "library/document_settings.hpp"
#include "memory/memory_settings.hpp"
#include "models/embedded_settings.hpp"
#include "models/model_settings.hpp"

namespace plimsoll::config {

struct Settings : base::SettingParts,
                  models::ModelSettings,
                  budget::PassageSettings,
                  library::DocumentSettings,
                  conversation::HistorySettings,
                  models::EmbeddedSettings,
                  gateway::GatewaySettings,
                  memory::MemorySettings,
                  ledger::TraceSettings,
                  count::TokenizerSettings,
                  base::LogSettings {};

// Returns all settings, in display order.
base::SettingList all_settings();

// Finds a setting by its key in lower or upper case; null if there is none.
const base::Setting* find_setting(std::string_view key);

// Returns the settings with these keys, in this order; all settings if `keys` is empty. The error
// unknown_setting names the first unknown key and the nearest known one.
Result<std::vector<const base::Setting*>> select_settings(std::span<const std::string> keys);

// Combines the sources. Fails with unknown_setting or bad_setting and a message for the user. Pure.
Result<Settings> resolve_settings(const base::SettingSources& sources);

// The same, with the process environment, and the file and assignments of a command line.
Result<Settings> load_settings(const std::filesystem::path& config_file,
                               std::span<const std::string> assignments);

}  // namespace plimsoll::config
