#include "base/settings/settings_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text/text.hpp"

namespace plimsoll::base {
namespace {

constexpr std::int64_t most_tokens = 100'000'000;  // beyond every model; catches a value in bytes or a slip

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
            "Window in tokens of a model about which nothing else is known."},
    Setting{"llm_context_window", "LLM_CONTEXT_WINDOW",
            OptionalWhole{&Settings::llm_context_window, 1, most_tokens, "auto"},
            "Window in tokens that stands above whatever was detected."},
    Setting{"cache_ttl_seconds", "cache_ttl_seconds", Whole{&Settings::cache_ttl_seconds, 0, 31'536'000},
            "How long a detected window is believed before the server is asked again."},
    Setting{"window_timeout_seconds", "", Real{&Settings::window_timeout_seconds, 0.1, 600},
            "Seconds that all questions to a server for one model's window may take."},
    Setting{"context_safety_margin", "CONTEXT_SAFETY_MARGIN",
            Real{&Settings::context_safety_margin, 0.1, 1.0},
            "Share of the window that the top_k rule (B1) may fill."},
    Setting{"generation_buffer", "GENERATION_BUFFER", Whole{&Settings::generation_buffer, 0, most_tokens},
            "Tokens that the top_k rule (B1) keeps free for the answer."},
    Setting{"min_top_k", "MIN_TOP_K", Whole{&Settings::min_top_k, 1, 10'000},
            "Fewest passages that the top_k rule (B1) asks for, as long as they fit."},
    Setting{"max_top_k", "MAX_TOP_K", Whole{&Settings::max_top_k, 1, 10'000},
            "Most passages that the top_k rule (B1) asks for."},
    Setting{"avg_chunk_tokens", "AVG_CHUNK_TOKENS", Whole{&Settings::avg_chunk_tokens, 1, most_tokens},
            "Tokens that the top_k rule (B1) takes a passage to cost."},
    Setting{"reverse_context_for_ollama", "REVERSE_CONTEXT_FOR_OLLAMA",
            Flag{&Settings::reverse_context_for_ollama},
            "Put the best passage last for Ollama, which cuts from the top."},
    Setting{"rag_document_node_token_approximation", "RAG_DOCUMENT_NODE_TOKEN_APPROXIMATION",
            Whole{&Settings::rag_document_node_token_approximation, 1, most_tokens},
            "Tokens that a stored passage is taken to cost when candidates are fetched (K3)."},
    Setting{"rag_similarity_threshold", "RAG_SIMILARITY_THRESHOLD",
            Real{&Settings::rag_similarity_threshold, 0.0, 4.0},
            "Squared distance beyond which a passage is dropped; 0 keeps all of them."},
    Setting{
        "rag_context_token_fill_ratio", "RAG_CONTEXT_TOKEN_FILL_RATIO",
        Real{&Settings::rag_context_token_fill_ratio, 0.2, 0.8},
        "Share of the room that passages get by rule B4 when a request names none. Unless it is set, such "
        "requests are negotiated."},
    Setting{"passage_tokens", "", Whole{&Settings::passage_tokens, 0, most_tokens},
            "Most tokens of passages when a request names neither a budget nor a share."},
    Setting{"embedded_passage_tokens", "", Whole{&Settings::embedded_passage_tokens, 0, most_tokens},
            "The same for the embedded model, which reads slowly."},
    Setting{"passage_instruction", "", Text{&Settings::passage_instruction},
            "What the model is told to do with passages; auto chooses by policy, empty says nothing."},
    Setting{"addition_prompt_tokens", "ADDITION_PROMPT_TOKENS",
            Whole{&Settings::addition_prompt_tokens, 0, most_tokens},
            "Tokens that rule B4 sets aside for the words around the passages."},
    Setting{"rag_max_top_k", "RAG_MAX_TOP_K", Whole{&Settings::rag_max_top_k, 1, 10'000},
            "Most passages that one retrieval request may ask for."},
    Setting{"store_file", "", Path{&Settings::store_file}, "File that holds documents and their indexes."},
    Setting{"embedders", "", Names{&Settings::embedders},
            "Embedders of a new index: all-minilm-l6-v2, ollama:MODEL, openai:MODEL; empty: search by words "
            "alone."},
    Setting{"embed_threads", "", Whole{&Settings::embed_threads, 0, 256},
            "Threads that the built-in embedder uses; 0 takes all cores."},
    Setting{"chunk_tokens", "", Whole{&Settings::chunk_tokens, 32, 4'096},
            "Tokens of a chunk in a new index, about."},
    Setting{"max_document_bytes", "", Whole{&Settings::max_document_bytes, 1, std::int64_t{1} << 40},
            "Larger files are left out, and said."},
    Setting{"default_vector_db_persist_dir", "DEFAULT_VECTOR_DB_PERSIST_DIR",
            Path{&Settings::default_vector_db_persist_dir},
            "Folder below which POST /persist writes snapshots of indexes and POST /load reads them."},
    Setting{"max_history_turns", "max_history_turns",
            OptionalWhole{&Settings::max_history_turns, 0, 1'000'000, "unlimited"},
            "How many of the last turns of a conversation are looked at."},
    Setting{"memory_compression_threshold_pct", "MEMORY_COMPRESSION_THRESHOLD_PCT",
            Whole{&Settings::memory_compression_threshold_pct, 1, 100},
            "Per cent of the window above which old turns are compressed (F1)."},
    Setting{
        "rewrite_follow_ups", "", Flag{&Settings::rewrite_follow_ups},
        "Before documents are searched, let a model (summary_model) say in full a question that depends on "
        "earlier turns; false: search with words of those turns."},
    Setting{"compress_history", "", Flag{&Settings::compress_history},
            "Send a summary in the place of the oldest turns where a conversation is too long; false: leave "
            "turns out, and say so (F5)."},
    Setting{"summary_model", "", Text{&Settings::summary_model},
            "Model that writes such summaries; empty: the one that is asked."},
    Setting{"summary_timeout_seconds", "", Real{&Settings::summary_timeout_seconds, 0.001, 3'600},
            "How long a summary is waited for; then it is made of the turns' best sentences."},
    Setting{
        "summary_count", "", Whole{&Settings::summary_count, 1, 10'000'000},
        "Summaries of named sessions that are kept for each key, with the turns they replace; beyond, the "
        "oldest go."},
    Setting{"summary_days", "", Whole{&Settings::summary_days, 1, 36'500}, "Days after which they go."},
    Setting{"llm_fallback_enabled", "LLM_FALLBACK_ENABLED", Flag{&Settings::llm_fallback_enabled},
            "Let a request that is too large go to another model."},
    Setting{"llm_allowed_fallback_models", "LLM_ALLOWED_FALLBACK_MODELS",
            Names{&Settings::llm_allowed_fallback_models},
            "Those models, in the order in which they are tried."},
    Setting{"ollama_llm_base_url", "OLLAMA_LLM_BASE_URL", Url{&Settings::ollama_llm_base_url},
            "Where Ollama answers."},
    Setting{"llm_inference_url", "LLM_INFERENCE_URL", Url{&Settings::llm_inference_url},
            "Where an OpenAI-style server answers."},
    Setting{"llm_access_secret", "LLM_ACCESS_SECRET", SecretText{&Settings::llm_access_secret},
            "Key that is sent to that server. Never shown."},
    Setting{
        "upstreams", "", Names{&Settings::upstreams},
        "Servers of models behind the gateway, as NAME=URL, URL, or the word embedded; empty: an Ollama is "
        "looked for."},
    Setting{"embedded_model", "", Flag{&Settings::embedded_model},
            "Answer with the embedded model where no server is named and no Ollama is there."},
    Setting{"embedded_model_file", "", Path{&Settings::embedded_model_file},
            "Its weights, a GGUF file; empty: SmolLM2 135M, which set-up fetches."},
    Setting{"embedded_window", "", OptionalWhole{&Settings::embedded_window, 1'024, most_tokens, "auto"},
            "Tokens that it holds of one conversation; auto: what it was made for, at most 8,192."},
    Setting{"embedded_slots", "", Whole{&Settings::embedded_slots, 1, 64},
            "Conversations that it holds at once; each takes memory for its window."},
    Setting{"embedded_threads", "", Whole{&Settings::embedded_threads, 0, 256},
            "Threads that it computes with; 0: half as many as the system tells cores, at most 16."},
    Setting{"embedded_idle_seconds", "", Real{&Settings::embedded_idle_seconds, 0.1, 31'536'000},
            "It is let go when nobody has asked it for so long."},
    Setting{"ollama_num_ctx_max", "OLLAMA_NUM_CTX_MAX",
            OptionalWhole{&Settings::ollama_num_ctx_max, 1, most_tokens, "auto"},
            "Largest window that an Ollama is asked to load a model with; auto: what it serves, at least "
            "16,384."},
    Setting{"refuse_inexpressible", "", Flag{&Settings::refuse_inexpressible},
            "Refuse a request with fields that a server's own API cannot express; false: leave them out, and "
            "say so."},
    Setting{"ask_for_usage", "", Flag{&Settings::ask_for_usage},
            "Ask for the usage of every stream, so that drift and cuts are seen; such requests are not "
            "byte-identical."},
    Setting{"listen", "", Text{&Settings::listen}, "Address and port that the gateway listens on."},
    Setting{"open_to_all", "", Flag{&Settings::open_to_all},
            "Listen beyond this machine also where there are no keys."},
    Setting{
        "cors_origins", "", Names{&Settings::cors_origins},
        "Origins of web pages that may use the gateway from a browser, as https://app.example; * for all."},
    Setting{"alert_webhook", "", SecretText{&Settings::alert_webhook},
            "Address that alerts of a key's budget are posted to. Never shown."},
    Setting{"tls_certificate_file", "", Path{&Settings::tls_certificate_file},
            "The gateway's certificate in PEM, with those between it and its authority; empty: plain HTTP."},
    Setting{"tls_key_file", "", Path{&Settings::tls_key_file}, "The key of that certificate, in PEM."},
    Setting{"io_threads", "", Whole{&Settings::io_threads, 0, 256},
            "Threads that talk to clients and servers; 0: as many as there are cores, at most 4."},
    Setting{"worker_threads", "", Whole{&Settings::worker_threads, 0, 256},
            "Threads that count, search and plan larger requests; 0: as many as there are cores."},
    Setting{"max_connections", "", Whole{&Settings::max_connections, 1, 1'000'000},
            "Clients that may be connected at once; more are told to come back."},
    Setting{"max_request_bytes", "", Whole{&Settings::max_request_bytes, 1'024, std::int64_t{1} << 40},
            "Larger requests are refused before they are read."},
    Setting{"max_memory", "", Whole{&Settings::max_memory, 1'024, std::int64_t{1} << 50},
            "Bytes of memory that all requests under way may take, reckoned as five times their bodies; "
            "beyond, clients get 503 and come back."},
    Setting{"max_answer_bytes", "", Whole{&Settings::max_answer_bytes, 1'024, std::int64_t{1} << 40},
            "Longer answers of an upstream are refused, where they are not streamed."},
    Setting{"request_timeout_seconds", "", Real{&Settings::request_timeout_seconds, 0.1, 86'400},
            "Seconds that a request may take in all."},
    Setting{"first_byte_timeout_seconds", "", Real{&Settings::first_byte_timeout_seconds, 0.1, 86'400},
            "Seconds that an upstream may take to begin its answer."},
    Setting{"idle_timeout_seconds", "", Real{&Settings::idle_timeout_seconds, 0.1, 86'400},
            "Seconds that a client or an upstream may stay silent in the middle of something."},
    Setting{"kaito_compat", "", Flag{&Settings::kaito_compat},
            "Answer as RAGEngine does where the gateway would do otherwise (docs/migrate-from-kaito.md)."},
    Setting{"max_sessions", "", Whole{&Settings::max_sessions, 1, 100'000'000},
            "Conversations that are kept; beyond, those that nobody spoke in for the longest time go."},
    Setting{"max_session_turns", "", Whole{&Settings::max_session_turns, 2, 1'000'000},
            "Messages of one conversation that are kept; beyond, the oldest go."},
    Setting{"max_session_bytes", "", Whole{&Settings::max_session_bytes, 1'024, std::int64_t{1} << 40},
            "Bytes of one conversation that are kept; beyond, the oldest messages go."},
    Setting{"max_upload_jobs", "", Whole{&Settings::max_upload_jobs, 1, 100'000},
            "Uploads that may wait and run at once; one key may have as many as are free besides."},
    Setting{"max_upload_bytes", "", Whole{&Settings::max_upload_bytes, 1'024, std::int64_t{1} << 40},
            "Bytes of uploads that may wait and run at once."},
    Setting{"max_evaluation_runs", "", Whole{&Settings::max_evaluation_runs, 1, 1'000},
            "Evaluations that may run at once; one key may have as many as are free besides."},
    Setting{"max_evaluation_questions", "", Whole{&Settings::max_evaluation_questions, 1, 100'000},
            "Questions that one evaluation may have."},
    Setting{"evaluation_question_seconds", "", Real{&Settings::evaluation_question_seconds, 0.1, 86'400},
            "Seconds that one question of an evaluation may take."},
    Setting{"keep_prompts", "", Flag{&Settings::keep_prompts},
            "Keep the text of requests and passages in traces."},
    Setting{"recall_memories", "", Flag{&Settings::recall_memories},
            "Let what is remembered come into every chat; false: only where a request says plimsoll.memory."},
    Setting{"memory_providers", "", Names{&Settings::memory_providers},
            "Who else remembers, as NAME=URL; all are asked at once (docs/memory.md)."},
    Setting{"memory_timeout_seconds", "", Real{&Settings::memory_timeout_seconds, 0.05, 60},
            "Seconds that each of them has to answer."},
    Setting{"base_min_trust", "", Real{&Settings::base_min_trust, 0.0, 1.0},
            "Least trust of memories while the window is filling; 0.2 with much room, 0.5 with little."},
    Setting{"memory_min_importance", "", Real{&Settings::memory_min_importance, 0.0, 1.0},
            "Own memories come into a request where their importance is above it."},
    Setting{
        "memory_max_age_days", "", Whole{&Settings::memory_max_age_days, 0, 36'500},
        "Own memories come into a request for so many days after they were last said or helped; 0: always."},
    Setting{"max_memories", "", Whole{&Settings::max_memories, 1, 1'000'000},
            "Memories that one owner may keep."},
    Setting{"extract_memories", "", Flag{&Settings::extract_memories},
            "Ask the model after each answer of /chat/message what of it is worth remembering; false: "
            "nothing is kept "
            "by itself."},
    Setting{"trace_count", "", Whole{&Settings::trace_count, 0, 100'000'000}, "Most traces that are kept."},
    Setting{"trace_days", "", Whole{&Settings::trace_days, 0, 36'500}, "Days that a trace is kept."},
    Setting{"trace_bytes", "", Whole{&Settings::trace_bytes, 0, std::int64_t{1} << 40},
            "Most bytes of traces that are kept."},
    Setting{"assets_dir", "", Path{&Settings::assets_dir}, "Folder of the files that set-up fetched."},
    Setting{"tokenizer_dir", "", Path{&Settings::tokenizer_dir}, "Folder of the compiled tokenizers."},
    Setting{"models_file", "", Path{&Settings::models_file},
            "TOML file whose entries add to the catalogue of models and stand above it."},
    Setting{"debug", "DEBUG", Flag{&Settings::debug}, "Log debug lines too, whatever log_level says."},
    Setting{"log_level", "", choice<&Settings::log_level>(level_words),
            "Least important lines that are logged."},
    Setting{"log_format", "", choice<&Settings::log_format>(format_words),
            "Log lines for people, or one JSON object a line."},
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

// The setting's reading of a raw value, or nothing if it is not of that kind.
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

// True if the value was taken.
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
            if (text == nullptr || has_control(*text)) return false;  // it becomes part of a header
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
  const bool capitals = name == upper || !prefix.empty();  // a variable is spelled in capitals
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
