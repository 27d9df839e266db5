// Settings of the embedded model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "base/settings/setting.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll::models {

struct EmbeddedSettings {
  bool embedded_model = true;                 // if no server is configured and no Ollama answers
  std::filesystem::path embedded_model_file;  // GGUF; empty: the downloaded one
  std::optional<Tokens> embedded_window;      // none: the model's maximum, at most 8,192
  std::int64_t embedded_slots = 2;
  std::int64_t embedded_threads = 0;  // 0: half the logical cores
  double embedded_idle_seconds = 300;
  std::filesystem::path models_dir;          // weights of embedded models; <cache folder>/models
  std::filesystem::path model_sources_file;  // more models to download; empty: none
};

// Their names, allowed values and meanings.
std::span<const base::Setting> embedded_settings();

}  // namespace plimsoll::models
