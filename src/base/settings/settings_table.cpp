#include "base/settings/settings_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text/text.hpp"

namespace plimsoll::base {
namespace {

constexpr std::int64_t most_tokens = 100'000'000;  // above every model; catches a value in bytes or a typo

// In the order of log::Level and log::Format.
constexpr std::array<std::string_view, 6> level_words{"trace", "debug", "info", "warning", "error", "off"};
constexpr std::array<std::string_view, 2> format_words{"text", "json"};

template <auto member>
constexpr Choice choice(std::span<const std::string_view> words) {
  using Enum = std::remove_cvref_t<decltype(std::declval<Settings>().*member)>;
  return {words, [](Settings& settings, std::size_t index) { settings.*member = static_cast<Enum>(index); },
          [](const Settings& settings) { return static_cast<std::size_t>(settings.*member); }};
}

const std::array table{
    Setting{"default_context_window", "DEFAULT_CONTEXT_WINDOW",
            Whole{&Settings::default_context_window, 1, most_tokens},
            "Context window in tokens for a model whose window cannot be found."},
    Setting{"llm_context_window", "LLM_CONTEXT_WINDOW",
            OptionalWhole{&Settings::llm_context_window, 1, most_tokens, "auto"},
            "Context window in tokens; overrides the detected one."},
    Setting{"cache_ttl_seconds", "cache_ttl_seconds", Whole{&Settings::cache_ttl_seconds, 0, 31'536'000},
            "Seconds that a detected window is cached before the server is asked again."},
    Setting{"window_timeout_seconds", "", Real{&Settings::window_timeout_seconds, 0.1, 600},
            "Time limit in seconds for detecting one model's window, all requests together."},
    Setting{"context_safety_margin", "CONTEXT_SAFETY_MARGIN",
            Real{&Settings::context_safety_margin, 0.1, 1.0},
            "Share of the window that the top_k rule (B1) may fill."},
    Setting{"generation_buffer", "GENERATION_BUFFER", Whole{&Settings::generation_buffer, 0, most_tokens},
            "Tokens that the top_k rule (B1) keeps free for the answer."},
    Setting{"min_top_k", "MIN_TOP_K", Whole{&Settings::min_top_k, 1, 10'000},
            "Fewest passages that the top_k rule (B1) asks for, if they fit."},
    Setting{"max_top_k", "MAX_TOP_K", Whole{&Settings::max_top_k, 1, 10'000},
            "Most passages that the top_k rule (B1) asks for."},
    Setting{"avg_chunk_tokens", "AVG_CHUNK_TOKENS", Whole{&Settings::avg_chunk_tokens, 1, most_tokens},
            "Tokens per passage that the top_k rule (B1) assumes."},
    Setting{"reverse_context_for_ollama", "REVERSE_CONTEXT_FOR_OLLAMA",
            Flag{&Settings::reverse_context_for_ollama},
            "Put the best passage last for Ollama, which truncates from the start."},
    Setting{"rag_document_node_token_approximation", "RAG_DOCUMENT_NODE_TOKEN_APPROXIMATION",
            Whole{&Settings::rag_document_node_token_approximation, 1, most_tokens},
            "Tokens per stored passage that rule K3 assumes when it fetches candidates."},
    Setting{"rag_similarity_threshold", "RAG_SIMILARITY_THRESHOLD",
            Real{&Settings::rag_similarity_threshold, 0.0, 4.0},
            "Squared distance above which a passage is dropped; 0 keeps all passages. Applies if it is set, "
            "or with kaito_compat."},
    Setting{"rag_context_token_fill_ratio", "RAG_CONTEXT_TOKEN_FILL_RATIO",
            Real{&Settings::rag_context_token_fill_ratio, 0.2, 0.8},
            "Share of the room for passages by rule B4, if a request does not give one. If this is not set, "
            "such requests are negotiated."},
    Setting{"passage_tokens", "", Whole{&Settings::passage_tokens, 0, most_tokens},
            "Most tokens of passages, if a request gives neither a token budget nor a ratio."},
    Setting{"embedded_passage_tokens", "", Whole{&Settings::embedded_passage_tokens, 0, most_tokens},
            "The same limit for the embedded model, which reads slowly."},
    Setting{
        "passage_instruction", "", Text{&Settings::passage_instruction},
        "Instruction to the model on how to use passages; auto: chosen by policy; empty: no instruction."},
    Setting{"addition_prompt_tokens", "ADDITION_PROMPT_TOKENS",
            Whole{&Settings::addition_prompt_tokens, 0, most_tokens},
            "Tokens that rule B4 reserves for the prompt text around the passages."},
    Setting{"rag_max_top_k", "RAG_MAX_TOP_K", Whole{&Settings::rag_max_top_k, 1, 10'000},
            "Most passages that one retrieval request may ask for."},
    Setting{"store_file", "", Path{&Settings::store_file},
            "Database file with documents, indexes, keys, sessions and traces."},
    Setting{"embedders", "", Names{&Settings::embedders},
            "Embedders of a new index: all-minilm-l6-v2, ollama:MODEL, openai:MODEL; empty: keyword search "
            "only."},
    Setting{"embed_threads", "", Whole{&Settings::embed_threads, 0, 256},
            "Threads of the built-in embedder; 0: all cores."},
    Setting{"chunk_tokens", "", Whole{&Settings::chunk_tokens, 32, 4'096},
            "Approximate size in tokens of a chunk in a new index."},
    Setting{"max_document_bytes", "", Whole{&Settings::max_document_bytes, 1, std::int64_t{1} << 40},
            "Largest document in bytes; larger files are skipped and reported."},
    Setting{"default_vector_db_persist_dir", "DEFAULT_VECTOR_DB_PERSIST_DIR",
            Path{&Settings::default_vector_db_persist_dir},
            "Folder where POST /persist writes snapshots of indexes and POST /load reads them."},
    Setting{"max_history_turns", "max_history_turns",
            OptionalWhole{&Settings::max_history_turns, 0, 1'000'000, "unlimited"},
            "Number of most recent conversation turns that are considered."},
    Setting{"memory_compression_threshold_pct", "MEMORY_COMPRESSION_THRESHOLD_PCT",
            Whole{&Settings::memory_compression_threshold_pct, 1, 100},
            "Percentage of the window above which old turns are compressed (F1)."},
    Setting{"rewrite_follow_ups", "", Flag{&Settings::rewrite_follow_ups},
            "Before a search, let a model (summary_model) rewrite a follow-up question so that it makes "
            "sense on its own; false: add words from earlier turns to the query."},
    Setting{"compress_history", "", Flag{&Settings::compress_history},
            "Replace the oldest turns with a summary if a conversation is too long; false: drop turns and "
            "report it (F5)."},
    Setting{"recall_turns", "", Flag{&Settings::recall_turns},
            "Look for the question in turns that do not fit any more, and send those that answer it."},
    Setting{"recalled_tokens", "", Whole{&Settings::recalled_tokens, 0, 1'000'000},
            "Most tokens of such turns; never more than an eighth of the window."},
    Setting{"summary_model", "", Text{&Settings::summary_model},
            "Model that writes summaries; empty: the model of the request."},
    Setting{
        "summary_timeout_seconds", "", Real{&Settings::summary_timeout_seconds, 0.001, 3'600},
        "Time limit in seconds for a summary; after that it is made from the best sentences of the turns."},
    Setting{"summary_count", "", Whole{&Settings::summary_count, 1, 10'000'000},
            "Most summaries of named sessions kept per key, with the turns they replace; the oldest are "
            "deleted first."},
    Setting{"summary_days", "", Whole{&Settings::summary_days, 1, 36'500}, "Days that a summary is kept."},
    Setting{"llm_fallback_enabled", "LLM_FALLBACK_ENABLED", Flag{&Settings::llm_fallback_enabled},
            "Send a request that is too large to a fallback model."},
    Setting{"llm_allowed_fallback_models", "LLM_ALLOWED_FALLBACK_MODELS",
            Names{&Settings::llm_allowed_fallback_models},
            "Fallback models, in the order in which they are tried."},
    Setting{"ollama_llm_base_url", "OLLAMA_LLM_BASE_URL", Url{&Settings::ollama_llm_base_url},
            "URL of the Ollama server."},
    Setting{"llm_inference_url", "LLM_INFERENCE_URL", Url{&Settings::llm_inference_url},
            "URL of an OpenAI-compatible server."},
    Setting{"llm_access_secret", "LLM_ACCESS_SECRET", SecretText{&Settings::llm_access_secret},
            "API key for llm_inference_url. Never shown."},
    Setting{"upstreams", "", Names{&Settings::upstreams},
            "Model servers behind the gateway, each as NAME=URL, URL, or the word embedded; empty: look for "
            "an Ollama."},
    Setting{"embedded_model", "", Flag{&Settings::embedded_model},
            "Use the embedded model if no server is configured and no Ollama answers."},
    Setting{"embedded_model_file", "", Path{&Settings::embedded_model_file},
            "GGUF file of the embedded model; empty: SmolLM2 135M, downloaded by the set-up."},
    Setting{"embedded_window", "", OptionalWhole{&Settings::embedded_window, 1'024, most_tokens, "auto"},
            "Context window in tokens of the embedded model; auto: the model's maximum, at most 8,192."},
    Setting{"embedded_slots", "", Whole{&Settings::embedded_slots, 1, 64},
            "Conversations that the embedded model holds at once; each uses memory for one window."},
    Setting{"embedded_threads", "", Whole{&Settings::embedded_threads, 0, 256},
            "Threads of the embedded model; 0: half the logical cores, at most 16."},
    Setting{"embedded_idle_seconds", "", Real{&Settings::embedded_idle_seconds, 0.1, 31'536'000},
            "Seconds without a request after which the embedded model is unloaded."},
    Setting{"ollama_num_ctx_max", "OLLAMA_NUM_CTX_MAX",
            OptionalWhole{&Settings::ollama_num_ctx_max, 1, most_tokens, "auto"},
            "Largest window that Ollama is asked to load a model with; auto: the window it serves, at least "
            "16,384."},
    Setting{"refuse_inexpressible", "", Flag{&Settings::refuse_inexpressible},
            "Refuse a request with fields that the server's API does not support; false: drop these fields "
            "and report it."},
    Setting{"ask_for_usage", "", Flag{&Settings::ask_for_usage},
            "Request usage numbers for every stream, to detect drift and truncation; such requests are not "
            "forwarded byte for byte."},
    Setting{"listen", "", Text{&Settings::listen}, "Address and port that the gateway listens on."},
    Setting{"open_to_all", "", Flag{&Settings::open_to_all},
            "Listen on other addresses than loopback even if there are no API keys."},
    Setting{"cors_origins", "", Names{&Settings::cors_origins},
            "Origins of web pages that may use the gateway from a browser, such as https://app.example; * "
            "allows all."},
    Setting{"alert_webhook", "", SecretText{&Settings::alert_webhook},
            "URL that budget alerts are posted to. Never shown."},
    Setting{"tls_certificate_file", "", Path{&Settings::tls_certificate_file},
            "TLS certificate chain of the gateway in PEM format; empty: plain HTTP."},
    Setting{"tls_key_file", "", Path{&Settings::tls_key_file},
            "Private key of the TLS certificate in PEM format."},
    Setting{"io_threads", "", Whole{&Settings::io_threads, 0, 256},
            "Threads for network I/O; 0: one per core, at most 4."},
    Setting{"worker_threads", "", Whole{&Settings::worker_threads, 0, 256},
            "Threads that count, search and plan larger requests; 0: one per core."},
    Setting{"max_connections", "", Whole{&Settings::max_connections, 1, 1'000'000},
            "Most client connections at once; further clients get 503 with Retry-After."},
    Setting{"max_request_bytes", "", Whole{&Settings::max_request_bytes, 1'024, std::int64_t{1} << 40},
            "Largest request body in bytes; larger requests are refused before they are read."},
    Setting{"max_memory", "", Whole{&Settings::max_memory, 1'024, std::int64_t{1} << 50},
            "Bytes of memory for all running requests, estimated as five times their bodies and twice their "
            "unread answers; above it, clients get 503 with Retry-After."},
    Setting{"max_answer_bytes", "", Whole{&Settings::max_answer_bytes, 1'024, std::int64_t{1} << 40},
            "Largest answer of an upstream in bytes, if it is not streamed."},
    Setting{"request_timeout_seconds", "", Real{&Settings::request_timeout_seconds, 0.1, 86'400},
            "Time limit in seconds for a whole request."},
    Setting{"first_byte_timeout_seconds", "", Real{&Settings::first_byte_timeout_seconds, 0.1, 86'400},
            "Seconds that an upstream may take to start its answer."},
    Setting{"idle_timeout_seconds", "", Real{&Settings::idle_timeout_seconds, 0.1, 86'400},
            "Seconds that a client or an upstream may be silent during a request."},
    Setting{"kaito_compat", "", Flag{&Settings::kaito_compat},
            "Answer exactly as RAGEngine does where the gateway differs by default "
            "(docs/migrate-from-kaito.md)."},
    Setting{"max_sessions", "", Whole{&Settings::max_sessions, 1, 100'000'000},
            "Most conversations kept; the least recently used are deleted first."},
    Setting{"max_session_turns", "", Whole{&Settings::max_session_turns, 2, 1'000'000},
            "Most messages kept of one conversation; the oldest are deleted first."},
    Setting{"max_session_bytes", "", Whole{&Settings::max_session_bytes, 1'024, std::int64_t{1} << 40},
            "Most bytes kept of one conversation; the oldest messages are deleted first."},
    Setting{"max_upload_jobs", "", Whole{&Settings::max_upload_jobs, 1, 100'000},
            "Most uploads waiting or running at once; one key may hold as many as remain free."},
    Setting{"max_upload_bytes", "", Whole{&Settings::max_upload_bytes, 1'024, std::int64_t{1} << 40},
            "Most bytes of uploads waiting or running at once."},
    Setting{"max_evaluation_runs", "", Whole{&Settings::max_evaluation_runs, 1, 1'000},
            "Most evaluations running at once; one key may hold as many as remain free."},
    Setting{"max_evaluation_questions", "", Whole{&Settings::max_evaluation_questions, 1, 100'000},
            "Most questions in one evaluation."},
    Setting{"evaluation_question_seconds", "", Real{&Settings::evaluation_question_seconds, 0.1, 86'400},
            "Time limit in seconds for one question of an evaluation."},
    Setting{"keep_prompts", "", Flag{&Settings::keep_prompts},
            "Keep the text of requests and passages in traces."},
    Setting{"console", "", Flag{&Settings::console},
            "Serve the web console at / to browsers; false: JSON only."},
    Setting{"recall_memories", "", Flag{&Settings::recall_memories},
            "Add stored memories to every chat; false: only if a request has plimsoll.memory."},
    Setting{"memory_providers", "", Names{&Settings::memory_providers},
            "External memory providers, each as NAME=URL; all are queried in parallel (docs/memory.md)."},
    Setting{"memory_timeout_seconds", "", Real{&Settings::memory_timeout_seconds, 0.05, 60},
            "Time limit in seconds for each memory provider."},
    Setting{"base_min_trust", "", Real{&Settings::base_min_trust, 0.0, 1.0},
            "Lowest trust of memories at medium window pressure; it is 0.2 at low and 0.5 at high pressure."},
    Setting{"memory_min_importance", "", Real{&Settings::memory_min_importance, 0.0, 1.0},
            "Plimsoll's own memories are added to a request if their importance is above this."},
    Setting{"memory_max_age_days", "", Whole{&Settings::memory_max_age_days, 0, 36'500},
            "Plimsoll's own memories are added to a request for this many days after they were last stated "
            "or useful; 0: always."},
    Setting{"max_memories", "", Whole{&Settings::max_memories, 1, 1'000'000},
            "Most memories kept per owner."},
    Setting{"extract_memories", "", Flag{&Settings::extract_memories},
            "After each answer of /chat/message, ask the model which facts to remember; false: store nothing "
            "automatically."},
    Setting{"trace_count", "", Whole{&Settings::trace_count, 0, 100'000'000}, "Most traces kept."},
    Setting{"trace_days", "", Whole{&Settings::trace_days, 0, 36'500}, "Days that a trace is kept."},
    Setting{"trace_bytes", "", Whole{&Settings::trace_bytes, 0, std::int64_t{1} << 40},
            "Most bytes of traces kept."},
    Setting{"assets_dir", "", Path{&Settings::assets_dir},
            "Folder with the files that the set-up downloaded."},
    Setting{"models_dir", "", Path{&Settings::models_dir},
            "Folder with the weights of embedded models, filled by `plimsoll model get`."},
    Setting{"model_sources_file", "", Path{&Settings::model_sources_file},
            "TOML file with more models for `plimsoll model get`, as in data/assets.toml."},
    Setting{"tokenizer_dir", "", Path{&Settings::tokenizer_dir}, "Folder with the compiled tokenizers."},
    Setting{"models_file", "", Path{&Settings::models_file},
            "TOML file with models that extend and override the built-in catalogue."},
    Setting{"debug", "DEBUG", Flag{&Settings::debug}, "Log debug lines too, whatever log_level says."},
    Setting{"log_level", "", choice<&Settings::log_level>(level_words), "Lowest level that is logged."},
    Setting{"log_format", "", choice<&Settings::log_format>(format_words),
            "Format of log lines: text for people, or one JSON object per line."},
};

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

template <typename Number>
std::optional<Number> number_from(const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return number;
}

// Reads a number from a raw value; none if it is not a number of this type.
template <typename Number>
std::optional<Number> as_number(const RawValue& raw) {
  if (const auto* number = std::get_if<Number>(&raw.held)) return *number;
  if constexpr (std::is_same_v<Number, double>)
    if (const auto* whole = std::get_if<std::int64_t>(&raw.held)) return static_cast<double>(*whole);
  if (const auto* text = std::get_if<std::string>(&raw.held); text != nullptr && !raw.typed)
    return number_from<Number>(*text);
  return std::nullopt;
}

template <typename Number>
std::optional<Number> within(std::optional<Number> number, Number least, Number most) {
  // Written so that NaN is outside.
  if (number && *number >= least && *number <= most) return number;
  return std::nullopt;
}

std::optional<bool> as_flag(const RawValue& raw) {
  if (const auto* flag = std::get_if<bool>(&raw.held)) return *flag;
  const auto* text = std::get_if<std::string>(&raw.held);
  if (text == nullptr || raw.typed) return std::nullopt;
  const std::string word = to_lower_ascii(*text);
  if (word == "true" || word == "yes" || word == "on" || word == "1") return true;
  if (word == "false" || word == "no" || word == "off" || word == "0") return false;
  return std::nullopt;
}

const std::string* as_text(const RawValue& raw) {
  return std::get_if<std::string>(&raw.held);
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7F'; });
}

bool is_url(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"})
    if (text.starts_with(scheme) && text.size() > scheme.size() && text[scheme.size()] != '/' &&
        text.find(' ') == std::string_view::npos && !has_control(text))
      return true;
  return false;
}

std::optional<std::vector<std::string>> as_names(const RawValue& raw) {
  std::vector<std::string> names;
  if (const auto* list = std::get_if<std::vector<std::string>>(&raw.held)) {
    for (const std::string& name : *list)
      if (!trim(name).empty()) names.emplace_back(trim(name));
    return names;
  }
  const std::string* text = as_text(raw);
  if (text == nullptr) return std::nullopt;
  for (std::string_view rest = *text;;) {
    const std::size_t comma = rest.find(',');
    if (const std::string_view name = trim(rest.substr(0, comma)); !name.empty()) names.emplace_back(name);
    if (comma == std::string_view::npos) return names;
    rest.remove_prefix(comma + 1);
  }
}

// Stores the value. Returns false if it is not allowed.
bool take(Settings& settings, const Binding& binding, const RawValue& raw) {
  const auto put = [&](auto member, auto value) {
    if (!value) return false;
    settings.*member = *std::move(value);
    return true;
  };
  return std::visit(
      Overloaded{
          [&](const Whole& w) {
            return put(w.member, within(as_number<std::int64_t>(raw), w.least, w.most));
          },
          [&](const OptionalWhole& w) {
            if (const std::string* word = as_text(raw);
                word != nullptr && to_lower_ascii(*word) == w.absent) {
              settings.*w.member = std::nullopt;
              return true;
            }
            return put(w.member, within(as_number<std::int64_t>(raw), w.least, w.most));
          },
          [&](const Real& r) { return put(r.member, within(as_number<double>(raw), r.least, r.most)); },
          [&](const Flag& f) { return put(f.member, as_flag(raw)); },
          [&](const Text& t) {
            const std::string* text = as_text(raw);
            if (text == nullptr || has_control(*text)) return false;
            settings.*t.member = *text;
            return true;
          },
          [&](const Url& u) {
            const std::string* text = as_text(raw);
            if (text == nullptr || !(text->empty() || is_url(*text))) return false;
            settings.*u.member = *text;
            return true;
          },
          [&](const Names& n) { return put(n.member, as_names(raw)); },
          [&](const Path& p) {
            const std::string* text = as_text(raw);
            if (text == nullptr || text->find('\0') != std::string::npos) return false;
            settings.*p.member = *text;
            return true;
          },
          [&](const SecretText& s) {
            const std::string* text = as_text(raw);
            if (text == nullptr || has_control(*text)) return false;  // it is sent in an HTTP header
            settings.*s.member = Secret(*text);
            return true;
          },
          [&](const Choice& c) {
            const std::string* text = as_text(raw);
            if (text == nullptr) return false;
            const auto found = std::find(c.words.begin(), c.words.end(), to_lower_ascii(*text));
            if (found == c.words.end()) return false;
            c.set(settings, static_cast<std::size_t>(found - c.words.begin()));
            return true;
          },
      },
      binding);
}

std::string shown_raw(const RawValue& raw) {
  return std::visit(
      Overloaded{
          [](const std::string& text) { return text; },
          [](const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ",")); },
          [](const auto& value) { return fmt::format("{}", value); },
      },
      raw.held);
}

// http://ann:secret@host -> http://***@host
std::string without_password(const std::string& url) {
  const std::size_t scheme = url.find("://");
  const std::size_t host = scheme == std::string::npos ? 0 : scheme + 3;
  const std::size_t at = url.substr(0, url.find_first_of("/?#", host)).rfind('@');
  if (at == std::string::npos || at < host) return url;
  return url.substr(0, host) + "***" + url.substr(at);
}

}  // namespace

std::string Setting::prefixed_environment() const {
  return "PLIMSOLL_" + to_upper_ascii(key);
}

std::span<const Setting> all_settings() {
  return table;
}

const Setting* find_setting(std::string_view key) {
  for (const Setting& setting : table)
    if (key == setting.key || key == to_upper_ascii(setting.key)) return &setting;
  return nullptr;
}

tl::unexpected<Error> unknown_setting(std::string_view name, std::string_view origin,
                                      std::string_view prefix) {
  const std::string upper = to_upper_ascii(name);
  const bool capitals = name == upper || !prefix.empty();  // environment variables are upper case
  std::vector<std::string> known;
  for (const Setting& setting : table)
    known.push_back(capitals ? to_upper_ascii(setting.key) : std::string(setting.key));
  const auto meant = nearest(capitals ? std::string_view(upper) : name,
                             std::vector<std::string_view>(known.begin(), known.end()));
  return fail(
      Errc::unknown_setting, "unknown setting '{}{}' ({}); {}", prefix, name, origin,
      meant ? fmt::format("did you mean '{}{}'?", prefix, *meant) : "'plimsoll config' lists all of them");
}

std::string allowed_values(const Setting& setting) {
  return std::visit(
      Overloaded{
          [](const Whole& w) {
            return fmt::format("a whole number from {} to {}", with_thousands(w.least),
                               with_thousands(w.most));
          },
          [](const OptionalWhole& w) {
            return fmt::format("a whole number from {} to {}, or {}", with_thousands(w.least),
                               with_thousands(w.most), w.absent);
          },
          [](const Real& r) { return fmt::format("a number from {} to {}", r.least, r.most); },
          [](const Flag&) { return std::string("true or false"); },
          [](const Text&) { return std::string("one line of text"); },
          [](const Url&) { return std::string("an address that starts with http:// or https://"); },
          [](const Names&) { return std::string("names, separated by commas"); },
          [](const Path&) { return std::string("a path"); },
          [](const SecretText&) { return std::string("one line of text"); },
          [](const Choice& c) { return fmt::format("one of {}", fmt::join(c.words, ", ")); },
      },
      setting.binding);
}

tl::unexpected<Error> bad_value(const Setting& setting, std::string_view shown, std::string_view origin) {
  std::string value(shown);
  if (std::holds_alternative<Url>(setting.binding)) value = without_password(value);
  if (value.size() > 80) value = value.substr(0, 80) + "...";
  return fail(Errc::bad_setting, "bad value '{}' for {} ({}): allowed is {}",
              setting.is_secret() ? "***" : value, setting.key, origin, allowed_values(setting));
}

Result<void> assign(Settings& settings, const Setting& setting, const RawValue& raw,
                    std::string_view origin) {
  if (!take(settings, setting.binding, raw)) return bad_value(setting, shown_raw(raw), origin);
  settings.origins.insert_or_assign(std::string(setting.key), std::string(origin));
  return {};
}

ShownValue shown_value(const Settings& settings, const Setting& setting) {
  const auto text_or_none = [](std::string text) {
    return text.empty() ? ShownValue{} : ShownValue{std::move(text)};
  };
  return std::visit(
      Overloaded{
          [&](const OptionalWhole& w) {
            const auto& value = settings.*w.member;
            return value ? ShownValue{*value} : ShownValue{std::string(w.absent)};
          },
          [&](const Url& u) { return text_or_none(without_password(settings.*u.member)); },
          [&](const Names& n) {
            std::vector<std::string> shown;
            for (const std::string& name : settings.*n.member) shown.push_back(without_password(name));
            return ShownValue{std::move(shown)};
          },
          [&](const Path& p) { return text_or_none((settings.*p.member).string()); },
          [&](const SecretText& s) { return text_or_none((settings.*s.member).empty() ? "" : "***"); },
          [&](const Choice& c) { return ShownValue{std::string(c.words[c.get(settings)])}; },
          [&](const auto& plain) { return ShownValue{settings.*plain.member}; },
      },
      setting.binding);
}

std::string shown_text(const Settings& settings, const Setting& setting) {
  const std::string text = std::visit(
      Overloaded{
          [](std::monostate) { return std::string(); },
          [](const std::string& value) { return value; },
          [](const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ",")); },
          [](const auto& value) { return fmt::format("{}", value); },
      },
      shown_value(settings, setting));
  return text.empty() ? "none" : text;
}

}  // namespace plimsoll::base
