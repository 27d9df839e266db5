#include "gateway/auth/gate.hpp"

#include <algorithm>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/sha256.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"

namespace plimsoll::gateway {
namespace {

using base::with_thousands;

constexpr std::int64_t day_ms = std::int64_t{24} * 3600 * 1000;
constexpr std::int64_t first_alert = 80, alert_step = 20;  // at 80 and 100 percent

Refusal unknown(std::string what) {
  return {Refusal::Kind::no_key, "invalid_api_key", std::move(what), 0};
}

std::int64_t seconds_in(std::int64_t ms) {
  return std::max<std::int64_t>(1, (ms + 999) / 1'000);
}

Refusal too_much(std::string_view code, std::string what, std::int64_t wait_ms) {
  const std::int64_t seconds = seconds_in(wait_ms);
  what += fmt::format("; retry in {} s", with_thousands(seconds));
  return {Refusal::Kind::limit, std::string(code), std::move(what), seconds};
}

}  // namespace

// The second of a share that this gateway granted for itself while the store was away: the store has not
// reserved it.
constexpr std::int64_t granted_here = -1;

// Settles when it is destroyed, unless that was done before.
class Gate::ReservedShare final : public engine::HeldShare {
 public:
  ReservedShare(Gate& gate, LimitShare share)
      : gate_(gate), memory_(gate.memory_), queue_(gate.queue_), share_(std::move(share)) {}
  ~ReservedShare() override {
    if (is_settled_) return;
    if (is_in_store())
      queue_->settle(std::move(share_), 0);
    else
      (void)memory_->settle(share_, 0);
  }
  void settle(Tokens used) override {
    is_settled_ = true;
    if (is_in_store()) return queue_->settle(std::move(share_), used);
    const auto done = memory_->settle(share_, used);
    if (!queue_ && done) return gate_.settled(share_.owner, *done);
    LimitShare only_used;
    only_used.owner = share_.owner;
    if (queue_) queue_->settle(std::move(only_used), used);
  }

 private:
  bool is_in_store() const { return queue_ && share_.second != granted_here; }

  Gate& gate_;  // there as long as requests are
  std::shared_ptr<MemoryLimits> memory_;
  std::shared_ptr<LimitQueue> queue_;  // none: the limits are in memory
  LimitShare share_;
  bool is_settled_ = false;
};

// Counts a request for which nothing was reserved when it is destroyed.
class Gate::UncountedRequest final : public engine::Uncounted {
 public:
  UncountedRequest(std::shared_ptr<LimitQueue> queue, LimitWish wish)
      : queue_(std::move(queue)), wish_(std::move(wish)) {}
  ~UncountedRequest() override {
    if (take() == 0) return;
    wish_.look_minute = wish_.look_day = 0;
    queue_->count(std::move(wish_));
  }
  // Returns how many requests are to be counted now: one, once.
  std::int64_t take() { return is_taken_.exchange(true) ? 0 : 1; }

 private:
  std::shared_ptr<LimitQueue> queue_;
  LimitWish wish_;
  std::atomic<bool> is_taken_ = false;
};

Gate::Gate(KeyStore& store, GateOptions options, const Gate* before)
    : store_(store),
      options_(std::move(options)),
      book_(before != nullptr ? before->book_ : std::make_shared<Book>()) {
  if (!options_.now_ms) options_.now_ms = base::utc_ms;
  memory_ = before != nullptr ? before->memory_ : std::make_shared<MemoryLimits>(options_.now_ms);
  if (is_shared())
    queue_ = std::make_shared<LimitQueue>(
        options_.limits, [this](const std::string& owner, const auto& done) { settled(owner, done); });
}

Gate::~Gate() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (queue_) queue_->stop_telling();
}

void Gate::see(Holder& holder, const LimitState& state) {
  if (holder.state.day != state.day) holder.told = 0;
  holder.state = state;
}

void Gate::collect_alerts(Holder& holder, std::vector<BudgetAlert>& due, bool is_used_up) {
  const Tokens budget = holder.key.limits.tokens_per_day;
  if (budget <= 0 || holder.key.revoked) return;
  const auto is_reached = [&](std::int64_t percent) {
    return is_used_up || holder.state.used >= budget / 100 * percent + budget % 100 * percent / 100;
  };
  const bool is_raised = budget > holder.told_budget;
  while (holder.told > 0 && is_raised && !is_reached(holder.told)) holder.told -= alert_step;
  for (std::int64_t percent = first_alert; percent <= 100; percent += alert_step) {
    if (holder.told >= percent || !is_reached(percent)) continue;
    holder.told = percent;
    holder.told_budget = budget;
    due.push_back({holder.key.name, percent, holder.state.used, budget, holder.state.day});
  }
}

void Gate::tell(const std::vector<BudgetAlert>& alerts) {
  for (const BudgetAlert& alert : alerts) {
    ++counters_.alerts;
    log::warning(
        alert.percent >= 100 ? "a key's daily budget is used up" : "a key's daily budget is nearly used up",
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
  if (!is_shared() &&
      std::ranges::any_of(keys, [](const ApiKey& key) { return key.limits.tokens_per_day > 0; })) {
    TRY(const auto sums, store_.usage({today, today, {}, UsageWish::By::owner}));
    for (const UsageSum& sum : sums) used[sum.group] = add_used(used[sum.group], sum.tokens);
  }
  std::vector<BudgetAlert> due;
  {
    const std::lock_guard lock(book_->mutex);
    Holders by_hash, by_id;
    for (const ApiKey& key : keys) {
      const auto known = book_->by_id.find(key.id);
      const bool is_new = known == book_->by_id.end();
      const auto holder = is_new ? std::make_shared<Holder>() : known->second;
      holder->key = key;
      if (!is_shared()) {
        // The store lacks what is not written yet, but has the usage of other gateways.
        memory_->learn_used(key.id, today, used[key.id]);
        see(*holder, memory_->state(key.id, key.limits));
        std::vector<BudgetAlert> told_before;  // by an earlier process
        collect_alerts(*holder, is_new ? told_before : due);
      }
      by_hash.emplace(key.hash, holder);
      by_id.emplace(key.id, holder);
    }
    book_->by_hash = std::move(by_hash);
    book_->by_id = std::move(by_id);
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
      log::error("cannot read keys; the known keys stay valid", {{"why", done.error().what}});
    complained = !done;
    lock.lock();
  }
}

Refusal Gate::too_many(const Holder& holder, std::int64_t wait_ms) {
  return too_much("rate_limit_exceeded",
                  fmt::format("the key '{}' reached its rate limit of {} requests per minute",
                              holder.key.name, with_thousands(holder.key.limits.requests_per_minute)),
                  wait_ms);
}

Refusal Gate::refusal_of(const Holder& holder, const LimitWish& wish, const LimitGrant& grant, Tokens tokens,
                         std::int64_t now) {
  const LimitState& state = grant.state;
  if (grant.beyond == LimitGrant::Beyond::requests) return too_many(holder, grant.wait_ms);
  if (grant.beyond == LimitGrant::Beyond::minute)
    return too_much(
        "rate_limit_exceeded",
        fmt::format("the key '{}' has a rate limit of {} tokens per minute and {} left; this request "
                    "needs about {}",
                    holder.key.name, with_thousands(wish.limits.tokens_per_minute),
                    with_thousands(state.tokens_left), with_thousands(tokens)),
        grant.wait_ms);
  const std::string used =
      fmt::format("the key '{}' has used {} of its {} tokens for today", holder.key.name,
                  with_thousands(state.used), with_thousands(wish.limits.tokens_per_day));
  const Tokens needed = std::max(wish.look_day, grant.share.of_day);
  if (grant.beyond == LimitGrant::Beyond::day_for_now)
    return too_much("rate_limit_exceeded",
                    fmt::format("{}; running requests need up to {}, and this one up to {}", used,
                                with_thousands(state.reserved), with_thousands(needed)),
                    1'000);
  const std::int64_t next = (state.day + 1) * day_ms;
  return too_much(
      "insufficient_quota",
      fmt::format("{}; this request needs up to {}: send less, or ask for a shorter answer "
                  "(max_tokens); the day ends at {:%Y-%m-%d %H:%M} UTC",
                  used, with_thousands(needed), fmt::gmtime(static_cast<std::time_t>(next / 1'000))),
      next - now);
}

std::shared_ptr<Gate::Holder> Gate::holder_of(const std::string& owner) {
  const std::lock_guard lock(book_->mutex);
  const auto found = book_->by_id.find(owner);
  return found != book_->by_id.end() ? found->second : nullptr;
}

LimitWish Gate::admission(const Holder& holder, Tokens estimate, bool asks_model) const {
  LimitWish wish;
  wish.owner = holder.key.id;
  wish.limits = holder.key.limits;
  wish.requests = 1;
  wish.look_minute = asks_model ? estimate : 0;
  wish.look_day = asks_model ? 1 : 0;
  return wish;
}

bool Gate::may_count_later(const Holder& holder, const LimitWish& wish, const Access& access) const {
  const KeyLimits& limits = wish.limits;
  const bool is_reserved = limits.tokens_per_minute > 0 || limits.tokens_per_day > 0;
  if (!is_shared() || !access.reserves || !is_reserved || limits.requests_per_minute <= 0) return false;
  const LimitState& state = holder.state;
  return state.requests_left > limits.requests_per_minute / 2 &&
         state.tokens_left >= limits.tokens_per_minute / 2 &&
         (limits.tokens_per_day <= 0 || (state.day == day_of(options_.now_ms()) &&
                                         add_used(state.used, state.reserved) < limits.tokens_per_day / 2));
}

tl::expected<LimitGrant, Refusal> Gate::take_shared(Holder& holder, const LimitWish& wish) {
  const std::int64_t now = options_.now_ms();
  auto grant = queue_->take(wish);
  if (grant) {
    const std::lock_guard lock(book_->mutex);
    see(holder, grant->state);
    memory_->learn_used(wish.owner, grant->state.day, add_used(grant->state.used, grant->state.reserved));
    const bool is_full = grant->beyond == LimitGrant::Beyond::requests;
    holder.full_until_ms = is_full ? now + grant->wait_ms : 0;
    return *std::move(grant);
  }
  const bool refuses = options_.without_store == WithoutStore::refuse;
  constexpr std::int64_t between_complaints_ms = 60'000;
  if (std::int64_t after = complain_after_ms_;
      now >= after && complain_after_ms_.compare_exchange_strong(after, now + between_complaints_ms))
    log::error(refuses ? "limits cannot be read; requests of keys with limits are refused"
                       : "limits cannot be read; this gateway counts for itself from what it knew last",
               {{"why", grant.error().what}});
  if (!refuses) {
    auto here = *memory_->take(wish);
    here.share.second = granted_here;
    return here;
  }
  std::string name;
  {
    const std::lock_guard lock(book_->mutex);
    name = holder.key.name;
  }
  return tl::unexpected(Refusal{
      Refusal::Kind::unavailable, "limits_unavailable",
      fmt::format(
          "the limits of the key '{}' cannot be checked, and the gateway is set to refuse its requests "
          "until then (limits_without_store = refuse): {}",
          name, grant.error().what),
      2});
}

tl::expected<LimitGrant, Refusal> Gate::take(Holder& holder, const LimitWish& wish, Tokens tokens) {
  auto grant =
      is_shared() ? take_shared(holder, wish) : tl::expected<LimitGrant, Refusal>(*memory_->take(wish));
  if (!grant) return grant;
  std::vector<BudgetAlert> due;
  std::optional<Refusal> refusal;
  {
    const std::lock_guard lock(book_->mutex);
    if (!is_shared()) see(holder, grant->state);
    if (grant->beyond == LimitGrant::Beyond::nothing) return grant;
    if (grant->beyond == LimitGrant::Beyond::day && grant->share.of_day > 0 && holder.told >= first_alert)
      collect_alerts(holder, due, /*is_used_up=*/true);
    refusal = refusal_of(holder, wish, *grant, std::max(tokens, grant->share.of_minute), options_.now_ms());
  }
  tell(due);
  ++counters_.limited;
  return tl::unexpected(*std::move(refusal));
}

void Gate::settled(const std::string& owner, const LimitUsed& done) {
  std::vector<BudgetAlert> due;
  {
    const std::lock_guard lock(book_->mutex);
    const auto found = book_->by_id.find(owner);
    if (found == book_->by_id.end()) return;
    Holder& holder = *found->second;
    LimitState state = done.state;
    if (is_shared()) {
      // Who settles over a threshold tells of it: the others see that it was reached before.
      state.requests_left = holder.state.requests_left;
      state.tokens_left = holder.state.tokens_left;
      see(holder, state);
      std::vector<BudgetAlert> told_by_others;
      holder.state.used = done.used_before;
      collect_alerts(holder, told_by_others);
    }
    see(holder, state);
    collect_alerts(holder, due);
  }
  tell(due);
}

bool Gate::knows(const base::Secret& key) {
  if (!needs_keys_) return true;
  if (key.empty()) return false;
  const std::string hash = base::sha256_hex(key.reveal());
  const std::lock_guard lock(book_->mutex);
  const auto found = book_->by_hash.find(hash);
  return found != book_->by_hash.end() && !found->second->key.revoked;
}

std::optional<Gate::Admission> Gate::admit(const ClientRequest& request, const Access& access,
                                           bool may_wait) {
  if (!needs_keys_ || !access.needs_key) return Pass{};
  if (request.key.empty()) {
    ++counters_.unknown;
    return tl::unexpected(
        unknown("this gateway requires an API key: send it as `Authorization: Bearer KEY`; its operator can "
                "add one with "
                "`plimsoll keys add NAME`"));
  }
  const std::string hash = base::sha256_hex(request.key.reveal());
  const std::int64_t now = options_.now_ms();
  const bool model = access.asks_model;
  const Tokens estimate = model ? engine::estimated_tokens(request.body.size()) : 0;

  std::shared_ptr<Holder> holder;
  LimitWish wish;
  bool is_counted_later = false, has_private_indexes = false;
  std::optional<Refusal> refusal;
  {
    const std::lock_guard lock(book_->mutex);
    const auto found = book_->by_hash.find(hash);
    if (found == book_->by_hash.end() || found->second->key.revoked) {
      ++counters_.unknown;
      return tl::unexpected(
          unknown(found == book_->by_hash.end() ? "unknown API key" : "this API key was revoked"));
    }
    holder = found->second;
    wish = admission(*holder, estimate, model);
    has_private_indexes = holder->key.private_indexes;
    // What is full stays so until the oldest second is over, whatever other gateways do.
    if (is_shared() && wish.limits.requests_per_minute > 0 && now < holder->full_until_ms)
      refusal = too_many(*holder, holder->full_until_ms - now);
    else if ((is_counted_later = may_count_later(*holder, wish, access)))
      --holder->state.requests_left;  // until the limits are next seen
  }
  if (refusal) {
    ++counters_.limited;
    return tl::unexpected(*std::move(refusal));
  }
  Pass pass;
  if (is_counted_later) {
    pass.caller.uncounted = std::make_shared<UncountedRequest>(queue_, wish);
  } else if (!is_shared() || wish.limits.requests_per_minute > 0) {  // tokens are reserved later
    if (is_shared() && !may_wait) return std::nullopt;
    auto grant = take(*holder, wish, estimate);
    if (!grant) return tl::unexpected(std::move(grant).error());
  }
  pass.caller.owner = wish.owner;
  if (has_private_indexes) pass.caller.indexes = wish.owner;
  pass.caller.metered = wish.limits.tokens_per_minute > 0 || wish.limits.tokens_per_day > 0;
  return pass;
}

std::vector<HttpHeader> Gate::limit_headers(const std::string& owner) {
  std::vector<HttpHeader> headers;
  const std::lock_guard lock(book_->mutex);
  const auto found = book_->by_id.find(owner);
  if (found == book_->by_id.end()) return headers;
  const Holder& holder = *found->second;
  const KeyLimits& limits = holder.key.limits;
  const LimitState state = is_shared() ? holder.state : memory_->state(owner, limits);
  const auto say = [&](std::int64_t most, std::int64_t left, const std::string& of) {
    if (most <= 0) return;
    headers.push_back({"X-RateLimit-Limit-" + of, std::to_string(most)});
    headers.push_back({"X-RateLimit-Remaining-" + of, std::to_string(left)});
  };
  say(limits.requests_per_minute, state.requests_left, "Requests");
  say(limits.tokens_per_minute, state.tokens_left, "Tokens");
  return headers;
}

tl::expected<engine::Share, Refusal> Gate::reserve(const engine::Caller& caller, const engine::Need& need) {
  engine::Share share{need.answer};
  const auto holder = holder_of(caller.owner);
  if (!holder) return share;  // started before there were keys
  LimitWish wish;
  wish.owner = caller.owner;
  {
    const std::lock_guard lock(book_->mutex);
    wish.limits = holder->key.limits;
  }
  if (auto* request = dynamic_cast<UncountedRequest*>(caller.uncounted.get()))
    wish.requests = request->take();
  wish.input = need.input;
  wish.answer = need.answer;
  wish.answer_may_shrink = need.answer_may_shrink;
  auto grant = take(*holder, wish, 0);
  if (!grant) return tl::unexpected(std::move(grant).error());
  share.answer = grant->answer;
  share.held = std::make_shared<ReservedShare>(*this, std::move(grant->share));
  return share;
}

std::optional<Refusal> Gate::refuses(const std::string& owner) {
  if (!needs_keys_) return std::nullopt;
  const auto holder = holder_of(owner);
  if (!holder) return std::nullopt;  // started before there were keys
  LimitWish wish;
  {
    const std::lock_guard lock(book_->mutex);
    if (holder->key.revoked) return unknown("this API key was revoked");
    wish = admission(*holder, 0, /*asks_model=*/true);
  }
  auto grant = take(*holder, wish, 0);
  if (!grant) return std::move(grant).error();
  return std::nullopt;
}

void Gate::charge(const std::string& owner, Tokens tokens) {
  if (!needs_keys_ || tokens <= 0 || !holder_of(owner)) return;
  LimitShare share;
  share.owner = owner;
  if (is_shared())
    queue_->settle(std::move(share), tokens);
  else if (const auto done = memory_->settle(share, tokens))
    settled(owner, *done);
}

}  // namespace plimsoll::gateway
