// Settings of conversations: what is kept of them, and what becomes of old turns.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/settings/setting.hpp"

namespace plimsoll::conversation {

struct HistorySettings {
  std::optional<std::int64_t> max_history_turns;  // none: as many as fit
  std::int64_t memory_compression_threshold_pct = 85;
  bool compress_history = true;
  bool recall_turns = true;
  std::int64_t recalled_tokens = 1'000;
  bool rewrite_follow_ups = false;
  std::string summary_model;  // empty: the model of the request
  double summary_timeout_seconds = 20;
  std::int64_t summary_count = 10'000;  // kept per owner
  std::int64_t summary_days = 90;
  std::int64_t max_sessions = 10'000;
  std::int64_t max_session_turns = 10'000;
  std::int64_t max_session_bytes = std::int64_t{16} << 20;
};

// Their names, allowed values and meanings.
std::span<const base::Setting> history_settings();

}  // namespace plimsoll::conversation
