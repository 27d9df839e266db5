// Settings of which model servers there are, and the windows of their models.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/secret.hpp"
#include "base/settings/setting.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll::models {

struct ModelSettings {
  Tokens default_context_window = 4096;      // if the model's window cannot be found
  std::optional<Tokens> llm_context_window;  // overrides the detected window
  std::int64_t cache_ttl_seconds = 3600;     // how long a detected window is cached
  double window_timeout_seconds = 5;         // for all requests that detect one window
  std::optional<Tokens> ollama_num_ctx_max;  // none: the served window, at least 16,384
  std::filesystem::path models_file;         // extends the model catalogue; empty: none
  std::string ollama_llm_base_url = "http://localhost:11434";
  std::string llm_inference_url;  // empty: none
  base::Secret llm_access_secret;
  std::vector<std::string> upstreams;  // "NAME=URL", "URL" or "embedded"; empty: look for an Ollama
  bool refuse_inexpressible = true;    // fields that the server's API does not support: refuse or drop
  bool ask_for_usage = false;          // for streams, even if the client did not ask
  bool llm_fallback_enabled = false;
  std::vector<std::string> llm_allowed_fallback_models;
};

// Their names, allowed values and meanings.
std::span<const base::Setting> model_settings();

}  // namespace plimsoll::models
