#include "gateway/gate.hpp"

#include <algorithm>
#include <array>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace plimsoll::gateway {
namespace {

using base::with_thousands;

constexpr std::int64_t day_ms = std::int64_t{24} * 3600 * 1000;
constexpr std::int64_t first_alert = 80, alert_step = 20;  // at 80 and at 100 per cent

// What a body may come to in tokens before anybody has counted it. A picture has many bytes and few tokens:
// hence no more than this.
constexpr std::size_t bytes_per_token = 4;
constexpr Tokens most_estimated = 32'768;

bool is_public(const ClientRequest& request) {
  return request.path == "/health" || request.path == "/ready" || request.path == "/";
}

// Whether a model may answer it. Whatever is not known to do without is taken to ask one.
bool asks_model(const ClientRequest& request) {
  constexpr std::array<std::string_view, 15> without{
      "/index",    "/indexes/", "/persist/",    "/load/",    "/retrieve",
      "/search",   "/jobs/",    "/documents",   "/mcp",      "/admin/",
      "/v1/count", "/v1/plan",  "/v1/strategy", "/api/show", "/v1/messages/count_tokens"};
  return request.method == "POST" && std::ranges::none_of(without, [&](std::string_view path) {
           return path.ends_with('/') ? request.path.starts_with(path) : request.path == path;
         });
}

Refusal unknown(std::string what) {
  return {401, "invalid_api_key", std::move(what), 0};
}

std::int64_t seconds_in(std::int64_t ms) {
  return std::max<std::int64_t>(1, (ms + 999) / 1'000);
}

Refusal too_much(std::string_view code, std::string what, std::int64_t wait_ms) {
  const std::int64_t seconds = seconds_in(wait_ms);
  what += fmt::format("; there is room again in {} s", with_thousands(seconds));
  return {429, std::string(code), std::move(what), seconds};
}

}  // namespace

Gate::Gate(KeyStore& store, GateOptions options) : store_(store), options_(std::move(options)) {
  if (!options_.now_ms) options_.now_ms = base::utc_ms;
}

Gate::~Gate() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Gate::begin_day(Holder& holder, std::int64_t day) {
  if (holder.day == day) return;
  holder.day = day;
  holder.used = 0;
  holder.told = 0;
}

void Gate::collect_alerts(Holder& holder, std::vector<BudgetAlert>& due) {
  const Tokens budget = holder.key.limits.tokens_per_day;
  if (budget <= 0 || holder.key.revoked) return;
  const auto is_reached = [&](std::int64_t percent) {
    return holder.used >= budget / 100 * percent + budget % 100 * percent / 100;
  };
  while (holder.told > 0 && !is_reached(holder.told)) holder.told -= alert_step;  // the budget was raised
  for (std::int64_t percent = first_alert; percent <= 100; percent += alert_step) {
    if (holder.told >= percent || !is_reached(percent)) continue;
    holder.told = percent;
    due.push_back({holder.key.name, percent, holder.used, budget, holder.day});
  }
}

void Gate::tell(const std::vector<BudgetAlert>& alerts) {
  for (const BudgetAlert& alert : alerts) {
    ++counters_.alerts;
    log::warning(alert.percent >= 100 ? "a key's budget of the day is used up"
                                      : "a key's budget of the day is nearly used up",
                 {{"key", alert.key},
                  {"percent", alert.percent},
                  {"used_tokens", alert.used},
                  {"tokens_per_day", alert.budget}});
    if (options_.alert) options_.alert(alert);
  }
}

Result<void> Gate::refresh() {
  const std::int64_t now = options_.now_ms(), today = day_of(now);
  TRY(const auto keys, store_.keys());
  std::unordered_map<std::string, Tokens> used;
  if (std::ranges::any_of(keys, [](const ApiKey& key) { return key.limits.tokens_per_day > 0; })) {
    TRY(const auto sums, store_.usage({today, today, {}, UsageWish::By::owner}));
    for (const UsageSum& sum : sums) used[sum.group] = add_used(used[sum.group], sum.tokens);
  }
  std::vector<BudgetAlert> due;
  {
    const std::lock_guard lock(mutex_);
    Holders by_hash, by_id;
    for (const ApiKey& key : keys) {
      const auto known = by_id_.find(key.id);
      const bool is_new = known == by_id_.end();
      const auto holder = is_new ? std::make_shared<Holder>() : known->second;
      holder->key = key;
      holder->requests.limit(key.limits.requests_per_minute, now);
      holder->tokens.limit(key.limits.tokens_per_minute, now);
      begin_day(*holder, today);
      // The store lags behind by what is not written yet, and knows what other gateways have answered.
      holder->used = std::max(holder->used, used[key.id]);
      std::vector<BudgetAlert> told_before;  // by whoever ran before
      collect_alerts(*holder, is_new ? told_before : due);
      by_hash.emplace(key.hash, holder);
      by_id.emplace(key.id, holder);
    }
    by_hash_ = std::move(by_hash);
    by_id_ = std::move(by_id);
    needs_keys_ = !keys.empty();
  }
  tell(due);
  return {};
}

void Gate::refresh_every(std::chrono::milliseconds period) {
  thread_ = std::thread([this, period] { run(period); });
}

void Gate::run(std::chrono::milliseconds period) {
  bool complained = false;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, period, [&] { return stopping_; })) {
    lock.unlock();
    const auto done = refresh();
    if (!done && !complained)
      log::error("keys cannot be read; those that are known stay", {{"why", done.error().what}});
    complained = !done;
    lock.lock();
  }
}

std::optional<Refusal> Gate::beyond_limits(Holder& holder, Tokens estimate, bool asks_model,
                                           std::int64_t now) {
  const KeyLimits& limits = holder.key.limits;
  if (const std::int64_t wait = holder.requests.wait_ms(1, now); wait > 0)
    return too_much("rate_limit_exceeded",
                    fmt::format("the key '{}' may ask {} times a minute, and has done so", holder.key.name,
                                with_thousands(limits.requests_per_minute)),
                    wait);
  if (!asks_model) return std::nullopt;
  if (const std::int64_t wait = holder.tokens.wait_ms(estimate, now); wait > 0)
    return too_much("rate_limit_exceeded",
                    fmt::format("the key '{}' may use {} tokens a minute and has {} left, and this request "
                                "needs about {}",
                                holder.key.name, with_thousands(limits.tokens_per_minute),
                                with_thousands(holder.tokens.left(now)), with_thousands(estimate)),
                    wait);
  if (limits.tokens_per_day <= 0 || holder.used + holder.under_way < limits.tokens_per_day)
    return std::nullopt;
  if (holder.used < limits.tokens_per_day)
    return too_much("insufficient_quota",
                    fmt::format("the key '{}' has used {} of its {} tokens of today, and requests that are "
                                "under way need about {}",
                                holder.key.name, with_thousands(holder.used),
                                with_thousands(limits.tokens_per_day), with_thousands(holder.under_way)),
                    1'000);
  const std::int64_t next = (holder.day + 1) * day_ms;
  return too_much(
      "insufficient_quota",
      fmt::format("the key '{}' has used {} of its {} tokens of today, which ends at {:%Y-%m-%d %H:%M} UTC",
                  holder.key.name, with_thousands(holder.used), with_thousands(limits.tokens_per_day),
                  fmt::gmtime(static_cast<std::time_t>(next / 1'000))),
      next - now);
}

bool Gate::knows(const base::Secret& key) {
  if (!needs_keys_) return true;
  if (key.empty()) return false;
  const std::string hash = base::sha256_hex(key.reveal());
  const std::lock_guard lock(mutex_);
  const auto found = by_hash_.find(hash);
  return found != by_hash_.end() && !found->second->key.revoked;
}

tl::expected<Pass, Refusal> Gate::admit(const ClientRequest& request) {
  if (!needs_keys_ || is_public(request)) return Pass{};
  if (request.key.empty()) {
    ++counters_.unknown;
    return tl::unexpected(unknown(
        "this gateway needs a key: send it as `Authorization: Bearer KEY`; who runs it makes one with "
        "`plimsoll keys add NAME`"));
  }
  const std::string hash = base::sha256_hex(request.key.reveal());
  const std::int64_t now = options_.now_ms();
  const bool model = asks_model(request);
  const Tokens estimate =
      model ? std::min(most_estimated, static_cast<Tokens>(request.body.size() / bytes_per_token)) : 0;

  const std::lock_guard lock(mutex_);
  const auto found = by_hash_.find(hash);
  if (found == by_hash_.end() || found->second->key.revoked) {
    ++counters_.unknown;
    return tl::unexpected(
        unknown(found == by_hash_.end() ? "this key is not known here" : "this key was revoked"));
  }
  Holder& holder = *found->second;
  begin_day(holder, day_of(now));
  if (auto refusal = beyond_limits(holder, estimate, model, now)) {
    ++counters_.limited;
    return tl::unexpected(*std::move(refusal));
  }
  const KeyLimits& limits = holder.key.limits;
  Pass pass;
  pass.caller.owner = holder.key.id;
  if (holder.key.private_indexes) pass.caller.indexes = holder.key.id;
  pass.caller.metered = limits.tokens_per_minute > 0 || limits.tokens_per_day > 0;
  pass.reserved = estimate;
  holder.under_way += estimate;
  const auto say = [&](Bucket& bucket, std::int64_t amount, const std::string& of) {
    if (!bucket.is_limited()) return;
    bucket.take(amount);
    pass.headers.push_back({"X-RateLimit-Limit-" + of, std::to_string(bucket.per_minute())});
    pass.headers.push_back({"X-RateLimit-Remaining-" + of, std::to_string(bucket.left(now))});
  };
  say(holder.requests, 1, "Requests");
  say(holder.tokens, estimate, "Tokens");
  return pass;
}

std::optional<Refusal> Gate::refuses(const std::string& owner) {
  if (!needs_keys_) return std::nullopt;
  const std::int64_t now = options_.now_ms();
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(owner);
  if (found == by_id_.end()) return std::nullopt;  // begun before there were keys
  Holder& holder = *found->second;
  if (holder.key.revoked) return unknown("this key was revoked");
  begin_day(holder, day_of(now));
  auto refusal = beyond_limits(holder, 0, /*asks_model=*/true, now);
  if (!refusal && holder.requests.is_limited()) holder.requests.take(1);
  return refusal;
}

void Gate::leave(const Pass& pass) {
  if (pass.reserved == 0) return;
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(pass.caller.owner);
  if (found == by_id_.end()) return;
  found->second->under_way -= pass.reserved;
  if (found->second->tokens.is_limited()) found->second->tokens.give_back(pass.reserved);
}

void Gate::charge(const std::string& owner, Tokens tokens) {
  if (!needs_keys_ || tokens <= 0) return;
  const std::int64_t today = day_of(options_.now_ms());
  std::vector<BudgetAlert> due;
  {
    const std::lock_guard lock(mutex_);
    const auto found = by_id_.find(owner);
    if (found == by_id_.end()) return;
    Holder& holder = *found->second;
    begin_day(holder, today);
    if (holder.tokens.is_limited()) holder.tokens.take(tokens);
    holder.used = add_used(holder.used, tokens);
    collect_alerts(holder, due);
  }
  tell(due);
}

}  // namespace plimsoll::gateway
