// Finds the model servers of the gateway.
#pragma once

#include <string>
#include <vector>

#include "config/settings.hpp"
#include "models/upstreams.hpp"

namespace plimsoll {

// Returns the given servers, as [NAME=]URL; else the configured ones (upstreams; else llm_inference_url and
// ollama_llm_base_url, one or both); else an Ollama, if one answers at its default address; else the embedded
// model. The API key of a named server is the environment variable NAME_API_KEY; llm_access_secret is
// sent to the server of llm_inference_url.
Result<std::vector<models::ConfiguredUpstream>> gateway_upstreams(const config::Settings& settings,
                                                                  const std::vector<std::string>& named);

// The same without the embedded model, for commands that ask servers. Empty if none is configured and no
// Ollama answers.
Result<std::vector<models::ConfiguredUpstream>> configured_members(
    const config::Settings& settings, const std::vector<std::string>& named = {});

struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;
};
// "127.0.0.1:8000", "[::1]:8000", "localhost:8000", ":8000", "8000".
Result<ListenAddress> listen_address(std::string_view text);
bool is_loopback(std::string_view host);

}  // namespace plimsoll
