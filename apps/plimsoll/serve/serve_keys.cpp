#include "serve/serve_keys.hpp"

#include "base/log.hpp"
#include "base/try.hpp"
#include "index/stores.hpp"
#include "serve/find_window.hpp"

namespace plimsoll {
namespace {

// Longest delay until an added or revoked key takes effect.
constexpr std::chrono::milliseconds between_refreshes{1'000};

}  // namespace

Doorkeeper::Doorkeeper(const config::Settings& settings, std::unique_ptr<KeyStore> keys,
                       std::shared_ptr<LimitStore> limits, const gateway::Gate* before)
    : keys_(std::move(keys)),
      http_("plimsoll/" PLIMSOLL_VERSION, trusted_certificates()),
      alerts_(settings.alert_webhook.empty()
                  ? nullptr
                  : std::make_unique<gateway::AlertPost>(http_, settings.alert_webhook.reveal())),
      gate_(*keys_,
            {.now_ms = {},
             .alert =
                 [this](const gateway::BudgetAlert& alert) {
                   if (alerts_) alerts_->add(alert);
                 },
             .limits = std::move(limits),
             .without_store = settings.limits_without_store},
            before) {}

Result<std::unique_ptr<Doorkeeper>> Doorkeeper::open(const config::Settings& settings,
                                                     const gateway::Gate* before) {
  const std::string& hook = settings.alert_webhook.reveal();
  if (!hook.empty() && !hook.starts_with("http://") && !hook.starts_with("https://"))
    return fail(Errc::bad_setting, "alert_webhook must be a URL that starts with http:// or https://");
  TRY(auto keys, open_keys(settings, /*create=*/true));
  TRY(auto limits, open_limits(settings));
  std::unique_ptr<Doorkeeper> doorkeeper(
      new Doorkeeper(settings, std::move(keys), std::move(limits), before));
  TRY_VOID(doorkeeper->gate_.refresh());
  return doorkeeper;
}

void Doorkeeper::watch() {
  gate_.refresh_every(between_refreshes);
}

Result<void> check_listening(const ListenAddress& listen, bool has_keys, bool open_to_all,
                             std::string_view program) {
  if (has_keys || is_loopback(listen.host)) return {};
  if (!open_to_all)
    return fail(
        Errc::bad_input,
        "{} is not a loopback address, and there are no API keys: every client that reaches the port could "
        "use all upstreams. `{} keys add NAME` adds a key, which every request then needs; --open (or "
        "open_to_all = true) listens without keys",
        listen.host, program);
  log::warning(
      "listening beyond loopback without API keys: every client that reaches the port may use all upstreams",
      {{"address", listen.host}});
  return {};
}

}  // namespace plimsoll
