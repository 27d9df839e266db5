// Any bytes as a settings file: an error or settings within their bounds, never a crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "config/settings.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll::base;
  using plimsoll::config::all_settings, plimsoll::config::resolve_settings;
  SettingSources sources;
  sources.file = ConfigFile{"fuzz.toml", std::string(reinterpret_cast<const char*>(data), size)};
  const auto settings = resolve_settings(sources);
  if (!settings) {
    if (settings.error().what.empty()) std::abort();
    return 0;
  }
  if (settings->min_top_k < 1 || settings->min_top_k > settings->max_top_k) std::abort();
  if (!(settings->rag_context_token_fill_ratio >= 0.2 && settings->rag_context_token_fill_ratio <= 0.8))
    std::abort();
  for (const Setting& setting : all_settings()) {
    const std::string shown = shown_text(*settings, setting);
    if (setting.is_secret() && shown != "none" && shown != "***") std::abort();
  }
  return 0;
}
