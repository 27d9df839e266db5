// Anthropic's servers by their own API, POST /v1/messages. Chats are translated both ways.
#pragma once

#include <memory>
#include <string>

#include "base/secret.hpp"
#include "plimsoll/upstream.hpp"

namespace plimsoll::anthropic {

struct AnthropicConfig {
  std::string root;  // "https://api.anthropic.com", with or without "/v1"
  base::Secret key;  // sent as x-api-key; may be empty
};

// `streams` outlives it.
std::unique_ptr<UpstreamLink> make_anthropic(HttpStreams& streams, AnthropicConfig config);

}  // namespace plimsoll::anthropic
