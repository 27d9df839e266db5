// What a client asks of Ollama's /api/chat or /api/generate, as OpenAI's API has it. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "plimsoll/tokens.hpp"
#include "plimsoll/window.hpp"

namespace plimsoll::gateway {

enum class OllamaRoute { chat, generate };

// Where the request goes, which decides how some wishes are spelled.
struct OllamaTarget {
  std::string model;  // as it goes on
  ServerKind kind = ServerKind::openai;
  bool refuse_inexpressible = true;
};

struct OllamaAsk {
  std::string route;              // of OpenAI's
  std::string body;               // for it
  std::optional<Tokens> num_ctx;  // the window that the client wishes for
  bool stream = true;
  bool only_loads = false;         // nothing is asked: the client wants the model to be there, or gone
  bool unloads = false;            // keep_alive is 0
  std::vector<std::string> notes;  // what was left out without effect on the answer
};

// The model that a body names, before it is known where that is served. bad_input: no JSON object.
Result<nlohmann::ordered_json> read_ollama_body(const std::string& body);
Result<std::string> ollama_model_in(const nlohmann::ordered_json& body);

// bad_input or unsupported name the field: what cannot be expressed is never dropped in silence.
Result<OllamaAsk> read_ollama_ask(OllamaRoute route, const nlohmann::ordered_json& body,
                                  const OllamaTarget& target);

}  // namespace plimsoll::gateway
