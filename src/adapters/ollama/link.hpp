// An Ollama by its own API, which lets us choose the window and forbid that it cuts (U2). Chats are
// translated both ways; every other route goes to Ollama's own OpenAI routes as it is.
#pragma once

#include <memory>
#include <string>

#include "base/secret.hpp"
#include "plimsoll/upstream.hpp"

namespace plimsoll::ollama {

struct OllamaConfig {
  std::string root;   // "http://127.0.0.1:11434"
  base::Secret key;   // may be empty; for one that stands behind a proxy
};

class OllamaLink : public UpstreamLink {
 public:
  // The prompt as the model would see it, for templates that nobody here can render. unsupported: this
  // Ollama does not tell; upstream_failed: it has an error instead.
  virtual Awaitable<Result<std::string>> rendered(UpstreamRequest request, Deadline deadline) = 0;
};

// `streams` outlives it.
std::unique_ptr<OllamaLink> make_ollama(HttpStreams& streams, OllamaConfig config);

}  // namespace plimsoll::ollama
