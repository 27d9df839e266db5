#include "conversation/history_settings.hpp"

#include <array>

namespace plimsoll::conversation {

std::span<const base::Setting> history_settings() {
  static const std::array declared{
      base::Setting{"max_history_turns", "max_history_turns",
                    base::OptionalWhole{&HistorySettings::max_history_turns, 0, 1'000'000, "unlimited"},
                    "Number of most recent conversation turns that are considered."},
      base::Setting{"memory_compression_threshold_pct", "MEMORY_COMPRESSION_THRESHOLD_PCT",
                    base::Whole{&HistorySettings::memory_compression_threshold_pct, 1, 100},
                    "Percentage of the window above which old turns are compressed (F1)."},
      base::Setting{
          "compress_history", "", base::Flag{&HistorySettings::compress_history},
          "Replace the oldest turns with a summary if a conversation is too long; false: drop turns and "
          "report it (F5)."},
      base::Setting{
          "recall_turns", "", base::Flag{&HistorySettings::recall_turns},
          "Look for the question in turns that do not fit any more, and send those that answer it."},
      base::Setting{"recalled_tokens", "", base::Whole{&HistorySettings::recalled_tokens, 0, 1'000'000},
                    "Most tokens of such turns; never more than an eighth of the window."},
      base::Setting{
          "rewrite_follow_ups", "", base::Flag{&HistorySettings::rewrite_follow_ups},
          "Before a search, let a model (summary_model) rewrite a follow-up question so that it makes "
          "sense on its own. Off because the answer waits for that model, and a hosted one costs money; "
          "false: add words from earlier turns to the query."},
      base::Setting{"summary_model", "", base::Text{&HistorySettings::summary_model},
                    "Model that writes summaries; empty: the model of the request."},
      base::Setting{
          "summary_timeout_seconds", "", base::Real{&HistorySettings::summary_timeout_seconds, 0.001, 3'600},
          "Time limit in seconds for a summary; after that it is made from the best sentences of the turns."},
      base::Setting{
          "summary_count", "", base::Whole{&HistorySettings::summary_count, 1, 10'000'000},
          "Most summaries of named sessions kept per key, with the turns they replace; the oldest are "
          "deleted first."},
      base::Setting{"summary_days", "", base::Whole{&HistorySettings::summary_days, 1, 36'500},
                    "Days that a summary is kept."},
      base::Setting{"max_sessions", "", base::Whole{&HistorySettings::max_sessions, 1, 100'000'000},
                    "Most conversations kept; the least recently used are deleted first."},
      base::Setting{"max_session_turns", "", base::Whole{&HistorySettings::max_session_turns, 2, 1'000'000},
                    "Most messages kept of one conversation; the oldest are deleted first."},
      base::Setting{"max_session_bytes", "",
                    base::Whole{&HistorySettings::max_session_bytes, 1'024, std::int64_t{1} << 40},
                    "Most bytes kept of one conversation; the oldest messages are deleted first."},
  };
  return declared;
}

}  // namespace plimsoll::conversation
