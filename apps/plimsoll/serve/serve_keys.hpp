// Who may use the gateway: keys, alerts, and where it may listen without any.
#pragma once

#include <memory>

#include "adapters/http/curl_client.hpp"
#include "base/settings/settings.hpp"
#include "gateway/admin/alerts.hpp"
#include "gateway/auth/gate.hpp"
#include "serve/serve_upstreams.hpp"

namespace plimsoll {

class Doorkeeper {
 public:
  // With the keys of the store, which is made where there is none. Settings outlive it. `before`: the gate to
  // the same store that this one follows; null: none.
  static Result<std::unique_ptr<Doorkeeper>> open(const base::Settings& settings,
                                                  const gateway::Gate* before = nullptr);
  Doorkeeper(const Doorkeeper&) = delete;
  Doorkeeper& operator=(const Doorkeeper&) = delete;

  gateway::Gate& gate() { return gate_; }
  // From now on keys are seen to come and go, and who should be alerted is.
  void watch();

 private:
  Doorkeeper(const base::Settings& settings, std::unique_ptr<KeyStore> keys, const gateway::Gate* before);

  std::unique_ptr<KeyStore> keys_;
  adapters::CurlClient http_;
  std::unique_ptr<gateway::AlertPost> alerts_;  // null: nobody is told but the log
  gateway::Gate gate_;
};

// bad_input where anybody could use it and nobody has said that this is meant.
// `program`: how other commands are called for the same store.
Result<void> check_listening(const ListenAddress& listen, bool has_keys, bool open_to_all,
                             std::string_view program);

}  // namespace plimsoll
