// The HTTP client, on libcurl. Connections are kept and used again. Proxies are taken from the environment
// (http_proxy, https_proxy, no_proxy and their like), but never for this machine itself. Redirects are
// handed back, not followed: a key must not travel to where nobody meant to send it.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include "plimsoll/http.hpp"

namespace plimsoll::adapters {

struct HttpLimits {
  std::size_t body_limit_bytes = 8'000'000;
  std::size_t header_limit_bytes = 256'000;
  std::size_t idle_connections = 16;  // handles that are kept, each with its connections
};

class CurlClient final : public HttpClient {
 public:
  // `agent` is what servers see as user agent. `certificates`: a file of the authorities to trust; empty: the
  // system's own.
  explicit CurlClient(std::string agent, std::string certificates = {}, HttpLimits limits = {});
  ~CurlClient() override;

  Result<HttpReply> send(const HttpRequest& request, Deadline deadline) override;
  // Ends running requests within about a second, and refuses further ones. Thread-safe.
  void stop() { stopped_ = true; }

 private:
  class Pool;
  std::string agent_;
  std::string certificates_;
  HttpLimits limits_;
  std::unique_ptr<Pool> pool_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace plimsoll::adapters
