// Which servers of models the gateway talks to.
#pragma once

#include <string>
#include <vector>

#include "base/settings/settings.hpp"
#include "models/upstreams.hpp"

namespace plimsoll {

// Those that are named, as [NAME=]URL; else those of the settings (upstreams; else llm_inference_url and
// ollama_llm_base_url, one or both); else an Ollama, if one answers at its usual place; else the embedded
// model. The key of a server that was given a name is NAME_API_KEY of the environment; the key of the
// settings goes to the server of llm_inference_url.
Result<std::vector<models::ConfiguredUpstream>> gateway_upstreams(const base::Settings& settings,
                                                                  const std::vector<std::string>& named);

// The same without the embedded model: the servers that a command may ask. None where none is set and no
// Ollama answers.
Result<std::vector<models::ConfiguredUpstream>> configured_members(
    const base::Settings& settings, const std::vector<std::string>& named = {});

struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;
};
// "127.0.0.1:8000", "[::1]:8000", "localhost:8000", ":8000", "8000".
Result<ListenAddress> listen_address(std::string_view text);
bool is_loopback(std::string_view host);

}  // namespace plimsoll
