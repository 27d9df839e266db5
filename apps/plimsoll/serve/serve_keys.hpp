// API keys and alerts of the gateway, and the check where it may listen without keys.
#pragma once

#include <memory>

#include "adapters/http/curl_client.hpp"
#include "config/settings.hpp"
#include "gateway/admin/alerts.hpp"
#include "gateway/auth/gate.hpp"
#include "serve/serve_upstreams.hpp"

namespace plimsoll {

class Doorkeeper {
 public:
  // Opens the keys of the store, which is created if needed. The settings must outlive it. `before`: the gate
  // of the same store that this one replaces; null: none.
  static Result<std::unique_ptr<Doorkeeper>> open(const config::Settings& settings,
                                                  const gateway::Gate* before = nullptr);
  Doorkeeper(const Doorkeeper&) = delete;
  Doorkeeper& operator=(const Doorkeeper&) = delete;

  gateway::Gate& gate() { return gate_; }
  KeyStore& keys() { return *keys_; }
  // Starts to watch for added and revoked keys and to send alerts.
  void watch();

 private:
  Doorkeeper(const config::Settings& settings, std::unique_ptr<KeyStore> keys,
             std::shared_ptr<LimitStore> limits, const gateway::Gate* before);

  std::unique_ptr<KeyStore> keys_;
  adapters::CurlClient http_;
  std::unique_ptr<gateway::AlertPost> alerts_;  // null: alerts go only to the log
  gateway::Gate gate_;
};

// Fails with bad_input if every client could use the gateway and the user did not allow it.
// `program`: the command line for the same store.
Result<void> check_listening(const ListenAddress& listen, bool has_keys, bool open_to_all,
                             std::string_view program);

}  // namespace plimsoll
