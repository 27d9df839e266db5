// Everything a user can set, with its default, and how the sources are put together:
//
//   built-in default  <  TOML file  <  environment  <  --set key=value
//
// A key that no setting has and a value that is not allowed are errors that name the key, its place
// and what would do; nothing is skipped in silence. The members below are the whole list; what each
// is called outside, and what it may be, stands in settings_table.cpp. docs/settings.md is the manual.
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
  Tokens default_context_window = 4096;      // when nothing else tells the model's window
  std::optional<Tokens> llm_context_window;  // stands above whatever was detected
  std::int64_t cache_ttl_seconds = 3600;     // how long a detected window is believed
  double window_timeout_seconds = 5;         // for the questions that find one window
  double context_safety_margin = 0.75;       // share of the window that rule B1 may fill
  Tokens generation_buffer = 512;            // kept free for the answer by rule B1

  // Retrieved passages.
  std::int64_t min_top_k = 2;
  std::int64_t max_top_k = 10;
  Tokens avg_chunk_tokens = 200;           // what rule B1 takes a chunk to cost
  bool reverse_context_for_ollama = true;  // best passage last: Ollama cuts from the top
  Tokens rag_document_node_token_approximation = 500;
  double rag_similarity_threshold = 0.85;     // squared distance; farther passages are dropped
  double rag_context_token_fill_ratio = 0.5;  // rule B4, where a request names no ratio
  Tokens passage_tokens = 2'000;         // most of passages, where a request names neither budget nor share
  Tokens embedded_passage_tokens = 500;  // likewise for the embedded model
  std::string passage_instruction = "auto";  // what a model is told to do with passages; "auto": by policy
  Tokens addition_prompt_tokens = 150;       // what rule B4 keeps for its prompt's own words
  std::int64_t rag_max_top_k = 300;

  // Documents.
  std::filesystem::path store_file;                        // <data folder>/store.db
  std::vector<std::string> embedders{"all-minilm-l6-v2"};  // of a new index; none: search by words alone
  std::int64_t embed_threads = 0;                          // 0: as many as there are cores
  Tokens chunk_tokens = 200;                               // of a new index
  std::int64_t max_document_bytes = std::int64_t{64} << 20;
  std::filesystem::path default_vector_db_persist_dir;  // <data folder>/storage

  // History and fallback.
  std::optional<std::int64_t> max_history_turns;  // none: as many as fit
  std::int64_t memory_compression_threshold_pct = 85;
  bool compress_history = true;
  bool rewrite_follow_ups = false;
  std::string summary_model;  // empty: the one that is asked
  double summary_timeout_seconds = 20;
  std::int64_t summary_count = 10'000;  // of one owner, that are kept
  std::int64_t summary_days = 90;
  bool llm_fallback_enabled = false;
  std::vector<std::string> llm_allowed_fallback_models;

  // Upstreams.
  std::string ollama_llm_base_url = "http://localhost:11434";
  std::string llm_inference_url;  // empty: none
  Secret llm_access_secret;

  std::vector<std::string> upstreams;        // "NAME=URL" or "URL"; empty: an Ollama is looked for
  std::optional<Tokens> ollama_num_ctx_max;  // none: what is served, and at least 16,384
  bool refuse_inexpressible = true;          // what a server's own API cannot say: refuse, or leave out
  bool ask_for_usage = false;                // of streams, also where the client did not ask

  // The embedded model.
  bool embedded_model = true;                 // where no server is named and no Ollama answers
  std::filesystem::path embedded_model_file;  // GGUF; empty: what set-up fetched
  std::optional<Tokens> embedded_window;      // none: what the model was made for, at most 8,192
  std::int64_t embedded_slots = 2;
  std::int64_t embedded_threads = 0;  // 0: half as many as the system tells cores
  double embedded_idle_seconds = 300;

  // The gateway.
  std::string listen = "127.0.0.1:8000";
  bool open_to_all = false;                    // listen beyond this machine also without keys
  std::vector<std::string> cors_origins;       // of pages that may read answers; empty: none
  Secret alert_webhook;                        // an address; who knows it can post to it
  std::filesystem::path tls_certificate_file;  // empty: plain HTTP
  std::filesystem::path tls_key_file;
  std::int64_t io_threads = 0;      // 0: by the number of cores
  std::int64_t worker_threads = 0;  // likewise
  std::int64_t max_connections = 4'096;
  std::int64_t max_request_bytes = std::int64_t{32} << 20;
  std::int64_t max_memory = std::int64_t{2} << 30;  // of requests under way, five times their bodies
  std::int64_t max_answer_bytes = std::int64_t{64} << 20;
  double request_timeout_seconds = 600;     // for all of one request
  double first_byte_timeout_seconds = 300;  // local models are slow to start
  double idle_timeout_seconds = 60;         // between two pieces, of a client or of an upstream
  bool kaito_compat = false;                // RAGEngine's answers also where ours are better
  bool keep_prompts = false;                // in traces

  // Chat with documents.
  std::int64_t max_sessions = 10'000;
  std::int64_t max_session_turns = 1'000;
  std::int64_t max_session_bytes = std::int64_t{4} << 20;
  std::int64_t max_upload_jobs = 32;
  std::int64_t max_upload_bytes = std::int64_t{256} << 20;
  std::int64_t max_evaluation_runs = 8;
  std::int64_t max_evaluation_questions = 200;
  double evaluation_question_seconds = 300;

  // Memory.
  bool recall_memories = false;               // also where a request does not ask for it
  std::vector<std::string> memory_providers;  // "NAME=URL": who else remembers
  double memory_timeout_seconds = 2;          // for each of them
  double memory_min_importance = 0.6;         // facts come in above it
  double base_min_trust = 0.3;                // and with this trust, while the window is filling (S2)
  std::int64_t memory_max_age_days = 7;       // 0: of any age
  std::int64_t max_memories = 10'000;         // of one owner
  bool extract_memories = false;              // from conversations, by the model

  // What is remembered of requests.
  std::int64_t trace_count = 10'000;
  std::int64_t trace_days = 30;
  std::int64_t trace_bytes = std::int64_t{256} << 20;

  // Files.
  std::filesystem::path assets_dir;     // what set-up fetched; <cache folder>/assets
  std::filesystem::path tokenizer_dir;  // compiled tokenizers; <cache folder>/tokenizers
  std::filesystem::path models_file;    // adds to the catalogue of models; empty: none

  // Telling.
  bool debug = false;  // raises log_level to debug
  log::Level log_level = log::Level::info;
  log::Format log_format = log::Format::text;

  // Where each value that is not a default came from, by key: "file /etc/plimsoll/plimsoll.toml:12",
  // "environment MIN_TOP_K", "flag".
  std::map<std::string, std::string, std::less<>> origins;

  std::string_view origin_of(std::string_view key) const;  // "default" where nobody said otherwise
  log::Level effective_log_level() const;                  // with `debug` taken into account
  Result<void> check() const;                              // what has to hold between two settings
};

struct ConfigFile {
  std::string path;  // as errors and origins show it
  std::string text;
};

struct SettingSources {
  std::optional<ConfigFile> file;
  Environment environment;
  std::vector<std::string> assignments;  // "key=value", as given to --set; a later one wins
};

// Pure. unknown_setting or bad_setting, with a sentence for the user.
Result<Settings> resolve_settings(const SettingSources& sources);

// Reads the real environment and the file: `config_file` if not empty, else what PLIMSOLL_CONFIG names,
// else plimsoll.toml in the config folder if there is one.
Result<Settings> load_settings(const std::filesystem::path& config_file,
                               std::span<const std::string> assignments);

}  // namespace plimsoll::base
