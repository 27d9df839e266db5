// The kinds of servers: their names and requests.
#include <array>

#include <nlohmann/json.hpp>

#include "base/json/json_text.hpp"
#include "base/text/text.hpp"
#include "plimsoll/window.hpp"

namespace plimsoll {
namespace {

constexpr std::array kinds{ServerKind::ollama,     ServerKind::llama_cpp, ServerKind::vllm,
                           ServerKind::openrouter, ServerKind::lm_studio, ServerKind::tgi,
                           ServerKind::gemini,     ServerKind::anthropic, ServerKind::openai};

}  // namespace

std::string_view name_of(WindowSource source) {
  switch (source) {
    case WindowSource::configured: return "configured";
    case WindowSource::served: return "served";
    case WindowSource::requestable: return "requestable";
    case WindowSource::declared: return "declared";
    case WindowSource::catalogue: return "catalogue";
    case WindowSource::assumed: return "default";
  }
  return "default";
}

std::string_view name_of(Confidence confidence) {
  switch (confidence) {
    case Confidence::high: return "high";
    case Confidence::medium: return "medium";
    case Confidence::low: return "low";
  }
  return "low";
}

std::string in_words(const std::vector<WindowAttempt>& tried) {
  std::string words;
  for (const WindowAttempt& attempt : tried) {
    if (!words.empty()) words += "; ";
    words += attempt.way + ": " + attempt.result;
  }
  return words;
}

std::string_view name_of(ServerKind kind) {
  switch (kind) {
    case ServerKind::ollama: return "ollama";
    case ServerKind::llama_cpp: return "llama.cpp";
    case ServerKind::vllm: return "vllm";
    case ServerKind::openrouter: return "openrouter";
    case ServerKind::lm_studio: return "lmstudio";
    case ServerKind::tgi: return "tgi";
    case ServerKind::gemini: return "gemini";
    case ServerKind::anthropic: return "anthropic";
    case ServerKind::openai: return "openai";
  }
  return "openai";
}

std::span<const ServerKind> all_server_kinds() {
  return kinds;
}

std::optional<ServerKind> server_kind_of(std::string_view name) {
  const std::string word = base::to_lower_ascii(name);
  for (const ServerKind kind : kinds)
    if (word == name_of(kind)) return kind;
  if (word == "kaito") return ServerKind::vllm;
  if (word == "llamacpp" || word == "llama-cpp") return ServerKind::llama_cpp;
  if (word == "lm-studio") return ServerKind::lm_studio;
  return std::nullopt;
}

bool chooses_window_on_load(ServerKind kind) {
  return kind == ServerKind::ollama || kind == ServerKind::lm_studio || kind == ServerKind::llama_cpp;
}

ServerAsk ask_for_models(ServerKind kind) {
  switch (kind) {
    case ServerKind::ollama: return {"GET", "/api/tags", {}};
    case ServerKind::lm_studio: return {"GET", "/api/v0/models", {}};
    case ServerKind::tgi: return {"GET", "/info", {}};
    case ServerKind::gemini: return {"GET", "/v1beta/models?pageSize=1000", {}};
    case ServerKind::anthropic: return {"GET", "/v1/models?limit=1000", {}};
    case ServerKind::llama_cpp:
    case ServerKind::vllm:
    case ServerKind::openrouter:
    case ServerKind::openai: break;
  }
  return {"GET", "/v1/models", {}};
}

std::optional<ServerAsk> ask_for_model(ServerKind kind, std::string_view model) {
  if (kind == ServerKind::llama_cpp) return ServerAsk{"GET", "/props", {}};
  if (kind != ServerKind::ollama) return std::nullopt;
  const nlohmann::json body{{"model", std::string(model)}};
  return ServerAsk{"POST", "/api/show", base::json_text(body)};
}

std::optional<ServerAsk> ask_for_loaded(ServerKind kind) {
  if (kind != ServerKind::ollama) return std::nullopt;
  return ServerAsk{"GET", "/api/ps", {}};
}

ServerAsk ask_whether(ServerKind kind) {
  if (kind == ServerKind::ollama) return {"GET", "/api/version", {}};
  if (kind == ServerKind::llama_cpp) return {"GET", "/props", {}};
  return ask_for_models(kind);
}

}  // namespace plimsoll
