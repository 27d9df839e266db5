// A server that speaks OpenAI's API: requests go out and replies come back as they are.
#pragma once

#include <memory>
#include <string>

#include "base/secret.hpp"
#include "plimsoll/upstream.hpp"

namespace plimsoll::openai {

struct OpenAiConfig {
  std::string root;  // "https://api.openai.com", with or without "/v1"
  base::Secret key;  // may be empty
};

// `streams` outlives it.
std::unique_ptr<UpstreamLink> make_upstream(HttpStreams& streams, OpenAiConfig config);

}  // namespace plimsoll::openai
