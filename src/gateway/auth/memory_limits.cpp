#include "gateway/auth/memory_limits.hpp"

#include <algorithm>

namespace plimsoll::gateway {

MemoryLimits::Taken& MemoryLimits::taken(const std::string& owner, std::int64_t now) {
  Taken& taken = by_owner_[owner];
  if (const std::int64_t today = day_of(now); taken.day != today) {
    taken.day = today;
    taken.used = 0;
  }
  return taken;
}

void MemoryLimits::set_limits(Taken& taken, const KeyLimits& limits, std::int64_t now) {
  taken.requests.limit(limits.requests_per_minute, now);
  taken.tokens.limit(limits.tokens_per_minute, now);
}

LimitState MemoryLimits::state_of(Taken& taken, std::int64_t now) {
  return {taken.requests.is_limited() ? taken.requests.left(now) : 0,
          taken.tokens.is_limited() ? taken.tokens.left(now) : 0, taken.day, taken.used, taken.reserved};
}

Result<std::vector<LimitDone>> MemoryLimits::work(std::span<const LimitStep> steps) {
  const std::int64_t now = now_ms_();
  const std::lock_guard lock(mutex_);
  std::vector<LimitDone> out;
  for (const LimitStep& step : steps)
    out.push_back(std::visit([&](const auto& what) -> LimitDone { return done(what, now); }, step));
  return out;
}

LimitGrant MemoryLimits::done(const LimitWish& wish, std::int64_t now) {
  using Beyond = LimitGrant::Beyond;
  Taken& taken = this->taken(wish.owner, now);
  set_limits(taken, wish.limits, now);
  const Tokens budget = wish.limits.tokens_per_day;
  LimitGrant grant;
  grant.answer = wish.answer;
  if (wish.answer_may_shrink && budget > 0) {
    const Tokens left = std::max<Tokens>(0, budget - taken.used - taken.reserved);
    const Tokens usual = std::clamp<Tokens>(left - wish.input, 1, usual_answer);
    grant.answer = std::min(wish.answer, std::max(left / limit_share, usual));
  }
  const Tokens of_day = add_used(wish.input, grant.answer);
  // A long answer may use more than its share of a minute; the rest is a debt.
  const Tokens most = std::max<Tokens>(usual_answer, wish.limits.tokens_per_minute / limit_share);
  const Tokens of_minute =
      wish.answer_may_shrink ? add_used(wish.input, std::min(grant.answer, most)) : of_day;
  grant.share = {wish.owner, of_minute, of_day, now / 1'000, taken.day};

  const bool needs_tokens = wish.look_minute > 0 || wish.look_day > 0 || of_day > 0;
  if (wish.requests > 0 && (grant.wait_ms = taken.requests.wait_ms(wish.requests, now)) > 0)
    grant.beyond = Beyond::requests;
  else if (needs_tokens &&
           (grant.wait_ms = taken.tokens.wait_ms(std::max(wish.look_minute, of_minute), now)) > 0)
    grant.beyond = Beyond::minute;
  else if (const Tokens needed = std::max(wish.look_day, of_day);
           budget > 0 && needed > 0 && add_used(add_used(taken.used, taken.reserved), needed) > budget)
    grant.beyond = add_used(taken.used, needed) <= budget ? Beyond::day_for_now : Beyond::day;

  if (grant.beyond == Beyond::nothing) {
    if (taken.requests.is_limited()) taken.requests.take(wish.requests);
    if (taken.tokens.is_limited()) taken.tokens.take(of_minute);
    taken.reserved += of_day;
  }
  grant.state = state_of(taken, now);
  return grant;
}

LimitUsed MemoryLimits::done(const LimitUse& use, std::int64_t now) {
  const auto& [share, used] = use;
  Taken& taken = this->taken(share.owner, now);
  LimitUsed settled{.used_before = taken.used, .state = {}};
  if (taken.tokens.is_limited()) {
    taken.tokens.take(used);
    taken.tokens.give_back(share.of_minute);
  }
  taken.used = add_used(taken.used, used);
  taken.reserved -= share.of_day;
  settled.state = state_of(taken, now);
  return settled;
}

void MemoryLimits::learn_used(const std::string& owner, std::int64_t day, Tokens used) {
  const std::lock_guard lock(mutex_);
  Taken& taken = this->taken(owner, now_ms_());
  if (taken.day == day) taken.used = std::max(taken.used, used);
}

LimitState MemoryLimits::state(const std::string& owner, const KeyLimits& limits) {
  const std::int64_t now = now_ms_();
  const std::lock_guard lock(mutex_);
  Taken& taken = this->taken(owner, now);
  set_limits(taken, limits, now);
  return state_of(taken, now);
}

}  // namespace plimsoll::gateway
