#include "models/embedded_settings.hpp"

#include <array>

namespace plimsoll::models {

std::span<const base::Setting> embedded_settings() {
  static const std::array declared{
      base::Setting{"embedded_model", "", base::Flag{&EmbeddedSettings::embedded_model},
                    "Use the embedded model if no server is configured and no Ollama answers."},
      base::Setting{"embedded_model_file", "", base::Path{&EmbeddedSettings::embedded_model_file},
                    "GGUF file of the embedded model; empty: SmolLM2 135M, downloaded by the set-up."},
      base::Setting{
          "embedded_window", "",
          base::OptionalWhole{&EmbeddedSettings::embedded_window, 1'024, base::most_tokens, "auto"},
          "Context window in tokens of the embedded model; auto: the model's maximum, at most 8,192."},
      base::Setting{"embedded_slots", "", base::Whole{&EmbeddedSettings::embedded_slots, 1, 64},
                    "Conversations that the embedded model holds at once; each uses memory for one window."},
      base::Setting{"embedded_threads", "", base::Whole{&EmbeddedSettings::embedded_threads, 0, 256},
                    "Threads of the embedded model; 0: half the logical cores, at most 16."},
      base::Setting{"embedded_idle_seconds", "",
                    base::Real{&EmbeddedSettings::embedded_idle_seconds, 0.1, 31'536'000},
                    "Seconds without a request after which the embedded model is unloaded."},
      base::Setting{"models_dir", "", base::Path{&EmbeddedSettings::models_dir},
                    "Folder with the weights of embedded models, filled by `plimsoll model get`."},
      base::Setting{"model_sources_file", "", base::Path{&EmbeddedSettings::model_sources_file},
                    "TOML file with more models for `plimsoll model get`, as in data/assets.toml."},
  };
  return declared;
}

}  // namespace plimsoll::models
