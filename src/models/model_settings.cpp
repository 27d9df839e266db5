#include "models/model_settings.hpp"

#include <array>

namespace plimsoll::models {

std::span<const base::Setting> model_settings() {
  static const std::array declared{
      base::Setting{"default_context_window", "DEFAULT_CONTEXT_WINDOW",
                    base::Whole{&ModelSettings::default_context_window, 1, base::most_tokens},
                    "Context window in tokens for a model whose window cannot be found."},
      base::Setting{"llm_context_window", "LLM_CONTEXT_WINDOW",
                    base::OptionalWhole{&ModelSettings::llm_context_window, 1, base::most_tokens, "auto"},
                    "Context window in tokens; overrides the detected one."},
      base::Setting{"cache_ttl_seconds", "cache_ttl_seconds",
                    base::Whole{&ModelSettings::cache_ttl_seconds, 0, 31'536'000},
                    "Seconds that a detected window is cached before the server is asked again."},
      base::Setting{"window_timeout_seconds", "",
                    base::Real{&ModelSettings::window_timeout_seconds, 0.1, 600},
                    "Time limit in seconds for detecting one model's window, all requests together."},
      base::Setting{
          "ollama_num_ctx_max", "OLLAMA_NUM_CTX_MAX",
          base::OptionalWhole{&ModelSettings::ollama_num_ctx_max, 1, base::most_tokens, "auto"},
          "Largest window that Ollama is asked to load a model with; auto: the window it serves, at least "
          "16,384."},
      base::Setting{"models_file", "", base::Path{&ModelSettings::models_file},
                    "TOML file with models that extend and override the built-in catalogue."},
      base::Setting{"ollama_llm_base_url", "OLLAMA_LLM_BASE_URL",
                    base::Url{&ModelSettings::ollama_llm_base_url}, "URL of the Ollama server."},
      base::Setting{"llm_inference_url", "LLM_INFERENCE_URL", base::Url{&ModelSettings::llm_inference_url},
                    "URL of an OpenAI-compatible server."},
      base::Setting{"llm_access_secret", "LLM_ACCESS_SECRET",
                    base::SecretText{&ModelSettings::llm_access_secret},
                    "API key for llm_inference_url. Never shown."},
      base::Setting{
          "upstreams", "", base::Names{&ModelSettings::upstreams},
          "Model servers behind the gateway, each as NAME=URL, URL, or the word embedded; empty: look for "
          "an Ollama."},
      base::Setting{
          "refuse_inexpressible", "", base::Flag{&ModelSettings::refuse_inexpressible},
          "Refuse a request with fields that the server's API does not support; false: drop these fields "
          "and report it."},
      base::Setting{
          "ask_for_usage", "", base::Flag{&ModelSettings::ask_for_usage},
          "Request usage numbers for every stream, to detect drift and truncation; such requests are not "
          "forwarded byte for byte."},
      base::Setting{"llm_fallback_enabled", "LLM_FALLBACK_ENABLED",
                    base::Flag{&ModelSettings::llm_fallback_enabled},
                    "Send a request that is too large to a fallback model."},
      base::Setting{"llm_allowed_fallback_models", "LLM_ALLOWED_FALLBACK_MODELS",
                    base::Names{&ModelSettings::llm_allowed_fallback_models},
                    "Fallback models, in the order in which they are tried."},
  };
  return declared;
}

}  // namespace plimsoll::models
