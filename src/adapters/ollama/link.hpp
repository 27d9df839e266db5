// An Ollama by its own API, which lets us choose the window and forbid that it cuts (U2). Chats are
// translated both ways; every other route goes to Ollama's own OpenAI routes as it is.
#pragma once

#include <memory>
#include <string>

#include "base/secret.hpp"
#include "plimsoll/upstream.hpp"

namespace plimsoll::ollama {

struct OllamaConfig {
  std::string root;  // "http://127.0.0.1:11434"
  base::Secret key;  // may be empty; for one that stands behind a proxy
};

// `streams` outlives it.
std::unique_ptr<UpstreamLink> make_ollama(HttpStreams& streams, OllamaConfig config);

}  // namespace plimsoll::ollama
