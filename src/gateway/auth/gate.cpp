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

// Reserved for an answer that may shrink: its maximum, or this part of the remaining limit, but at least the
// usual length of an answer.
constexpr std::int64_t share_of_rest = 4;
constexpr Tokens usual_answer = 512;

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

// Returns the reserved amount when destroyed.
class Gate::HeldShare {
 public:
  HeldShare(std::shared_ptr<Book> book, std::shared_ptr<Holder> holder, Tokens of_day, Tokens of_minute)
      : book_(std::move(book)), holder_(std::move(holder)), of_day_(of_day), of_minute_(of_minute) {
    holder_->under_way += of_day_;
    holder_->tokens.take(of_minute_);
  }
  HeldShare(const HeldShare&) = delete;
  HeldShare& operator=(const HeldShare&) = delete;
  ~HeldShare() {
    const std::lock_guard lock(book_->mutex);
    holder_->under_way -= of_day_;
    if (holder_->tokens.is_limited()) holder_->tokens.give_back(of_minute_);
  }

 private:
  std::shared_ptr<Book> book_;
  std::shared_ptr<Holder> holder_;
  Tokens of_day_, of_minute_;
};

Gate::Gate(KeyStore& store, GateOptions options, const Gate* before)
    : store_(store),
      options_(std::move(options)),
      book_(before != nullptr ? before->book_ : std::make_shared<Book>()) {
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

void Gate::collect_alerts(Holder& holder, std::vector<BudgetAlert>& due, bool is_used_up) {
  const Tokens budget = holder.key.limits.tokens_per_day;
  if (budget <= 0 || holder.key.revoked) return;
  const auto is_reached = [&](std::int64_t percent) {
    return is_used_up || holder.used >= budget / 100 * percent + budget % 100 * percent / 100;
  };
  const bool is_raised = budget > holder.told_budget;
  while (holder.told > 0 && is_raised && !is_reached(holder.told)) holder.told -= alert_step;
  for (std::int64_t percent = first_alert; percent <= 100; percent += alert_step) {
    if (holder.told >= percent || !is_reached(percent)) continue;
    holder.told = percent;
    holder.told_budget = budget;
    due.push_back({holder.key.name, percent, holder.used, budget, holder.day});
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
  if (std::ranges::any_of(keys, [](const ApiKey& key) { return key.limits.tokens_per_day > 0; })) {
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
      holder->requests.limit(key.limits.requests_per_minute, now);
      holder->tokens.limit(key.limits.tokens_per_minute, now);
      begin_day(*holder, today);
      // The store lacks what is not written yet, but has the usage of other gateways.
      holder->used = std::max(holder->used, used[key.id]);
      std::vector<BudgetAlert> told_before;  // by an earlier process
      collect_alerts(*holder, is_new ? told_before : due);
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

std::optional<Refusal> Gate::beyond_minute(Holder& holder, Tokens tokens, std::int64_t now) {
  const std::int64_t wait = holder.tokens.wait_ms(tokens, now);
  if (wait == 0) return std::nullopt;
  return too_much(
      "rate_limit_exceeded",
      fmt::format("the key '{}' has a rate limit of {} tokens per minute and {} left; this request "
                  "needs about {}",
                  holder.key.name, with_thousands(holder.key.limits.tokens_per_minute),
                  with_thousands(holder.tokens.left(now)), with_thousands(tokens)),
      wait);
}

std::optional<Refusal> Gate::beyond_day(const Holder& holder, Tokens tokens, std::int64_t now) {
  const Tokens budget = holder.key.limits.tokens_per_day;
  if (budget <= 0 || add_used(add_used(holder.used, holder.under_way), tokens) <= budget) return std::nullopt;
  const std::string used = fmt::format("the key '{}' has used {} of its {} tokens for today", holder.key.name,
                                       with_thousands(holder.used), with_thousands(budget));
  if (add_used(holder.used, tokens) <= budget)
    return too_much("rate_limit_exceeded",
                    fmt::format("{}; running requests need up to {}, and this one up to {}", used,
                                with_thousands(holder.under_way), with_thousands(tokens)),
                    1'000);
  const std::int64_t next = (holder.day + 1) * day_ms;
  return too_much(
      "insufficient_quota",
      fmt::format("{}; this request needs up to {}: send less, or ask for a shorter answer "
                  "(max_tokens); the day ends at {:%Y-%m-%d %H:%M} UTC",
                  used, with_thousands(tokens), fmt::gmtime(static_cast<std::time_t>(next / 1'000))),
      next - now);
}

std::optional<Refusal> Gate::beyond_limits(Holder& holder, Tokens estimate, bool asks_model,
                                           std::int64_t now) {
  if (const std::int64_t wait = holder.requests.wait_ms(1, now); wait > 0)
    return too_much("rate_limit_exceeded",
                    fmt::format("the key '{}' reached its rate limit of {} requests per minute",
                                holder.key.name, with_thousands(holder.key.limits.requests_per_minute)),
                    wait);
  if (!asks_model) return std::nullopt;
  if (auto refusal = beyond_minute(holder, estimate, now)) return refusal;
  return beyond_day(holder, 1, now);
}

bool Gate::knows(const base::Secret& key) {
  if (!needs_keys_) return true;
  if (key.empty()) return false;
  const std::string hash = base::sha256_hex(key.reveal());
  const std::lock_guard lock(book_->mutex);
  const auto found = book_->by_hash.find(hash);
  return found != book_->by_hash.end() && !found->second->key.revoked;
}

tl::expected<Pass, Refusal> Gate::admit(const ClientRequest& request, const Access& access) {
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

  const std::lock_guard lock(book_->mutex);
  const auto found = book_->by_hash.find(hash);
  if (found == book_->by_hash.end() || found->second->key.revoked) {
    ++counters_.unknown;
    return tl::unexpected(
        unknown(found == book_->by_hash.end() ? "unknown API key" : "this API key was revoked"));
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
  if (holder.requests.is_limited()) holder.requests.take(1);
  return pass;
}

std::vector<HttpHeader> Gate::limit_headers(const std::string& owner) {
  std::vector<HttpHeader> headers;
  const std::int64_t now = options_.now_ms();
  const std::lock_guard lock(book_->mutex);
  const auto found = book_->by_id.find(owner);
  if (found == book_->by_id.end()) return headers;
  const auto say = [&](Bucket& bucket, const std::string& of) {
    if (!bucket.is_limited()) return;
    headers.push_back({"X-RateLimit-Limit-" + of, std::to_string(bucket.per_minute())});
    headers.push_back({"X-RateLimit-Remaining-" + of, std::to_string(bucket.left(now))});
  };
  say(found->second->requests, "Requests");
  say(found->second->tokens, "Tokens");
  return headers;
}

tl::expected<engine::Share, Refusal> Gate::reserve(const std::string& owner, const engine::Need& need) {
  engine::Share share{need.answer};
  const std::int64_t now = options_.now_ms();
  std::optional<Refusal> refusal;
  std::vector<BudgetAlert> due;
  {
    const std::lock_guard lock(book_->mutex);
    const auto found = book_->by_id.find(owner);
    if (found == book_->by_id.end()) return share;  // started before there were keys
    Holder& holder = *found->second;
    begin_day(holder, day_of(now));
    const KeyLimits& limits = holder.key.limits;
    if (need.answer_may_shrink && limits.tokens_per_day > 0) {
      const Tokens left = std::max<Tokens>(0, limits.tokens_per_day - holder.used - holder.under_way);
      const Tokens usual = std::clamp<Tokens>(left - need.input, 1, usual_answer);
      share.answer = std::min(need.answer, std::max(left / share_of_rest, usual));
    }
    const Tokens tokens = add_used(need.input, share.answer);
    // A long answer may use more than its share of a minute; the rest is a debt.
    const Tokens most = std::max<Tokens>(usual_answer, limits.tokens_per_minute / share_of_rest);
    const Tokens of_minute =
        need.answer_may_shrink ? add_used(need.input, std::min(share.answer, most)) : tokens;
    refusal = beyond_minute(holder, of_minute, now);
    if (!refusal) refusal = beyond_day(holder, tokens, now);
    if (refusal && refusal->code == "insufficient_quota" && holder.told >= first_alert)
      collect_alerts(holder, due, /*is_used_up=*/true);
    if (!refusal) share.held = std::make_shared<HeldShare>(book_, found->second, tokens, of_minute);
  }
  tell(due);
  if (!refusal) return share;
  ++counters_.limited;
  return tl::unexpected(*std::move(refusal));
}

std::optional<Refusal> Gate::refuses(const std::string& owner) {
  if (!needs_keys_) return std::nullopt;
  const std::int64_t now = options_.now_ms();
  const std::lock_guard lock(book_->mutex);
  const auto found = book_->by_id.find(owner);
  if (found == book_->by_id.end()) return std::nullopt;  // started before there were keys
  Holder& holder = *found->second;
  if (holder.key.revoked) return unknown("this API key was revoked");
  begin_day(holder, day_of(now));
  auto refusal = beyond_limits(holder, 0, /*asks_model=*/true, now);
  if (!refusal && holder.requests.is_limited()) holder.requests.take(1);
  return refusal;
}

void Gate::charge(const std::string& owner, Tokens tokens) {
  if (!needs_keys_ || tokens <= 0) return;
  const std::int64_t today = day_of(options_.now_ms());
  std::vector<BudgetAlert> due;
  {
    const std::lock_guard lock(book_->mutex);
    const auto found = book_->by_id.find(owner);
    if (found == book_->by_id.end()) return;
    Holder& holder = *found->second;
    begin_day(holder, today);
    if (holder.tokens.is_limited()) holder.tokens.take(tokens);
    holder.used = add_used(holder.used, tokens);
    collect_alerts(holder, due);
  }
  tell(due);
}

}  // namespace plimsoll::gateway
