// All settings with their defaults, and the order of their sources:
//
//   built-in default  <  TOML file  <  environment  <  --set key=value
//
// An unknown key or a value that is not allowed is an error that names the key, its source and what is
// allowed; nothing is ignored silently. Names, allowed values and help texts are in settings_table.cpp.
// docs/settings.md is the manual.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "base/paths.hpp"
#include "base/secret.hpp"
#include "plimsoll/result.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll::base {

struct Settings {
  // The window.
  Tokens default_context_window = 4096;      // if the model's window cannot be found
  std::optional<Tokens> llm_context_window;  // overrides the detected window
  std::int64_t cache_ttl_seconds = 3600;     // how long a detected window is cached
  double window_timeout_seconds = 5;         // for all requests that detect one window
  double context_safety_margin = 0.75;       // share of the window that rule B1 may fill
  Tokens generation_buffer = 512;            // kept free for the answer by rule B1

  // Retrieved passages.
  std::int64_t min_top_k = 2;
  std::int64_t max_top_k = 10;
  Tokens avg_chunk_tokens = 200;           // cost of a chunk that rule B1 assumes
  bool reverse_context_for_ollama = true;  // best passage last: Ollama truncates from the start
  Tokens rag_document_node_token_approximation = 500;
  double rag_similarity_threshold = 0.85;     // squared distance; passages above it are dropped
  double rag_context_token_fill_ratio = 0.5;  // rule B4, if a request gives no ratio
  Tokens passage_tokens = 2'000;              // most of passages, if a request gives neither budget nor ratio
  Tokens embedded_passage_tokens = 500;       // the same for the embedded model
  std::string passage_instruction = "auto";   // how to use passages; "auto": by policy
  Tokens addition_prompt_tokens = 150;        // what rule B4 reserves for its prompt text
  std::int64_t rag_max_top_k = 300;

  // Documents.
  std::filesystem::path store_file;                        // <data folder>/store.db
  std::vector<std::string> embedders{"all-minilm-l6-v2"};  // of a new index; empty: keyword search only
  std::int64_t embed_threads = 0;                          // 0: all cores
  Tokens chunk_tokens = 200;                               // of a new index
  std::int64_t max_document_bytes = std::int64_t{64} << 20;
  std::filesystem::path default_vector_db_persist_dir;  // <data folder>/storage

  // History and fallback.
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
  bool llm_fallback_enabled = false;
  std::vector<std::string> llm_allowed_fallback_models;

  // Upstreams.
  std::string ollama_llm_base_url = "http://localhost:11434";
  std::string llm_inference_url;  // empty: none
  Secret llm_access_secret;

  std::vector<std::string> upstreams;        // "NAME=URL", "URL" or "embedded"; empty: look for an Ollama
  std::optional<Tokens> ollama_num_ctx_max;  // none: the served window, at least 16,384
  bool refuse_inexpressible = true;          // fields that the server's API does not support: refuse or drop
  bool ask_for_usage = false;                // for streams, even if the client did not ask

  // The embedded model.
  bool embedded_model = true;                 // if no server is configured and no Ollama answers
  std::filesystem::path embedded_model_file;  // GGUF; empty: the downloaded one
  std::optional<Tokens> embedded_window;      // none: the model's maximum, at most 8,192
  std::int64_t embedded_slots = 2;
  std::int64_t embedded_threads = 0;  // 0: half the logical cores
  double embedded_idle_seconds = 300;

  // The gateway.
  std::string listen = "127.0.0.1:8000";
  bool open_to_all = false;                    // listen beyond loopback even without keys
  std::vector<std::string> cors_origins;       // web pages that may read answers; empty: none
  Secret alert_webhook;                        // a URL; secret, as it may contain a token
  std::filesystem::path tls_certificate_file;  // empty: plain HTTP
  std::filesystem::path tls_key_file;
  std::int64_t io_threads = 0;      // 0: depends on the number of cores
  std::int64_t worker_threads = 0;  // 0: one per core
  std::int64_t max_connections = 4'096;
  std::int64_t max_request_bytes = std::int64_t{32} << 20;
  std::int64_t max_memory = std::int64_t{2} << 30;  // of running requests, at five times their bodies
  std::int64_t max_answer_bytes = std::int64_t{64} << 20;
  double request_timeout_seconds = 600;     // for a whole request
  double first_byte_timeout_seconds = 300;  // local models are slow to start
  double idle_timeout_seconds = 60;         // between two reads from a client or an upstream
  bool kaito_compat = false;                // answer as RAGEngine does where we differ by default
  bool keep_prompts = false;                // in traces
  bool console = true;                      // the web page at /

  // Chat with documents.
  std::int64_t max_sessions = 10'000;
  std::int64_t max_session_turns = 10'000;
  std::int64_t max_session_bytes = std::int64_t{16} << 20;
  std::int64_t max_upload_jobs = 32;
  std::int64_t max_upload_bytes = std::int64_t{256} << 20;
  std::int64_t max_evaluation_runs = 8;
  std::int64_t max_evaluation_questions = 200;
  double evaluation_question_seconds = 300;

  // Memory.
  bool recall_memories = false;               // even if the request does not ask for it
  std::vector<std::string> memory_providers;  // "NAME=URL": external providers
  double memory_timeout_seconds = 2;          // for each of them
  double memory_min_importance = 0.6;         // facts above it are used
  double base_min_trust = 0.3;                // lowest trust at medium window pressure (S2)
  std::int64_t memory_max_age_days = 7;       // 0: no limit
  std::int64_t max_memories = 10'000;         // of one owner
  bool extract_memories = false;              // from conversations, by the model

  // Traces of requests.
  std::int64_t trace_count = 10'000;
  std::int64_t trace_days = 30;
  std::int64_t trace_bytes = std::int64_t{256} << 20;

  // Files.
  std::filesystem::path assets_dir;          // downloaded by the set-up; <cache folder>/assets
  std::filesystem::path models_dir;          // weights of embedded models; <cache folder>/models
  std::filesystem::path model_sources_file;  // more models to download; empty: none
  std::filesystem::path tokenizer_dir;       // compiled tokenizers; <cache folder>/tokenizers
  std::filesystem::path models_file;         // extends the model catalogue; empty: none

  // Logging.
  bool debug = false;  // raises log_level to debug
  log::Level log_level = log::Level::info;
  log::Format log_format = log::Format::text;

  // Where each value that is not a default came from, by key: "file /etc/plimsoll/plimsoll.toml:12",
  // "environment MIN_TOP_K", "flag".
  std::map<std::string, std::string, std::less<>> origins;

  std::string_view origin_of(std::string_view key) const;  // "default" if it was not set
  log::Level effective_log_level() const;                  // with `debug` taken into account
  Result<void> check() const;                              // checks rules between settings
};

struct ConfigFile {
  std::string path;  // as errors and origins show it
  std::string text;
};

struct SettingSources {
  std::optional<ConfigFile> file;
  Environment environment;
  std::vector<std::string> assignments;  // "key=value", as given to --set; a later one wins
  std::filesystem::path shipped{};       // share/plimsoll of a release, beside bin/; empty: none
};

// Combines the sources. Fails with unknown_setting or bad_setting and a message for the user. Pure.
Result<Settings> resolve_settings(const SettingSources& sources);

// Reads the process environment and the file: `config_file` if not empty, else the one that PLIMSOLL_CONFIG
// names, else plimsoll.toml in the config folder if it exists.
Result<Settings> load_settings(const std::filesystem::path& config_file,
                               std::span<const std::string> assignments);

}  // namespace plimsoll::base
