// Settings of stored facts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/settings/setting.hpp"

namespace plimsoll::memory {

struct MemorySettings {
  bool recall_memories = false;               // even if the request does not ask for it
  std::vector<std::string> memory_providers;  // "NAME=URL": external providers
  double memory_timeout_seconds = 2;          // for each of them
  double memory_min_importance = 0.6;         // facts above it are used
  double base_min_trust = 0.3;                // lowest trust at medium window pressure (S2)
  std::int64_t memory_max_age_days = 7;       // 0: no limit
  std::int64_t max_memories = 10'000;         // of one owner
  bool extract_memories = false;              // from conversations, by the model
};

// Their names, allowed values and meanings.
std::span<const base::Setting> memory_settings();

}  // namespace plimsoll::memory
