// Translates requests of Ollama's /api/chat and /api/generate to OpenAI's API. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "plimsoll/tokens.hpp"
#include "plimsoll/window.hpp"

namespace plimsoll::gateway {

enum class OllamaRoute { chat, generate };

// The destination of the request, which determines the spelling of some fields.
struct OllamaTarget {
  std::string model;  // as sent to the upstream
  ServerKind kind = ServerKind::openai;
  bool refuse_inexpressible = true;
};

struct OllamaAsk {
  RequestKind kind = RequestKind::chat;
  std::string body;               // in OpenAI's form
  std::optional<Tokens> num_ctx;  // the window requested by the client
  bool stream = true;
  bool only_loads = false;         // no prompt: only load or unload the model
  bool unloads = false;            // keep_alive is 0
  std::vector<std::string> notes;  // fields dropped without effect on the answer
};

// Parses a body, before its server is known. bad_input: not a JSON object.
Result<nlohmann::ordered_json> read_ollama_body(const std::string& body);
Result<std::string> ollama_model_in(const nlohmann::ordered_json& body);

// bad_input or unsupported: the error names the field; unsupported fields are never dropped silently.
Result<OllamaAsk> read_ollama_ask(OllamaRoute route, const nlohmann::ordered_json& body,
                                  const OllamaTarget& target);

}  // namespace plimsoll::gateway
