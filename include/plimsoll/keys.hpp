// API keys of the gateway's clients with their limits, and the port to the store of keys and
// usage.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "plimsoll/result.hpp"
#include "plimsoll/tokens.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll {

struct KeyLimits {
  std::int64_t requests_per_minute = 0;  // in all limits, 0: no limit
  Tokens tokens_per_minute = 0;
  Tokens tokens_per_day = 0;  // days in UTC

  bool operator==(const KeyLimits&) const = default;
};

struct ApiKey {
  std::string id;  // owner id of everything created with the key; never reused
  std::string name;
  // SHA-256 of the secret in hexadecimal; the secret itself is not stored. No salt or slow hash is needed: it
  // has 256 random bits and cannot be guessed.
  std::string hash;
  std::int64_t created_ms = 0;  // UTC
  bool private_indexes = false;
  KeyLimits limits;
  bool revoked = false;
};

// A usage query: owner, days and grouping.
struct UsageWish {
  enum class By : std::uint8_t { owner, model, section, day };
  std::int64_t first_day = 0, last_day = 0;  // since 1970, UTC; both included
  std::string owner{};                       // empty: all
  By by = By::owner;
};
struct UsageSum {
  std::string group;    // an owner, a model, a section or a day number
  std::string section;  // as in UsedTokens
  Tokens tokens = 0;
  std::int64_t requests = 0;
  std::int64_t nano_usd = 0, priced = 0;  // as in UsedTokens
};

// Thread-safe. Changes are on disk when a call returns.
class KeyStore {
 public:
  KeyStore() = default;
  KeyStore(const KeyStore&) = delete;
  KeyStore& operator=(const KeyStore&) = delete;
  virtual ~KeyStore() = default;

  // bad_input: the name is already used, even by a revoked key: reports group by name.
  virtual Result<void> add(const ApiKey& key) = 0;
  // Returns all keys, revoked ones included, oldest first.
  virtual Result<std::vector<ApiKey>> keys() = 0;
  // not_found: no key has this hash. A revoked key is found and marked as revoked.
  virtual Result<ApiKey> find(std::string_view hash) = 0;
  // Returns the changed key. not_found: the error lists the known names; bad_input: it is revoked.
  virtual Result<ApiKey> set_limits(std::string_view name, const KeyLimits& limits) = 0;
  virtual Result<ApiKey> set_hash(std::string_view name, std::string_view hash) = 0;
  virtual Result<ApiKey> revoke(std::string_view name) = 0;

  // Returns sums ordered by group and section.
  virtual Result<std::vector<UsageSum>> usage(const UsageWish& wish) = 0;
};

// ---- Limits ----

// What a request needs of its key's limits.
struct LimitWish {
  std::string owner;   // id of the key
  KeyLimits limits{};  // of the key, as they are now
  // Taken if all limits allow it, or else nothing is taken.
  std::int64_t requests = 0;
  Tokens input = 0, answer = 0;
  bool answer_may_shrink = false;  // to a part of what is left of the day
  // Only compared with what is left of the minute and of the day.
  Tokens look_minute = 0, look_day = 0;
};

// What was reserved for a request.
struct LimitShare {
  std::string owner;
  Tokens of_minute = 0, of_day = 0;
  std::int64_t second = 0, day = 0;  // when: since 1970, UTC
};

struct LimitState {
  std::int64_t requests_left = 0;  // of this minute
  Tokens tokens_left = 0;          // of this minute
  std::int64_t day = 0;            // since 1970, UTC
  Tokens used = 0, reserved = 0;   // of that day
};

struct LimitGrant {
  enum class Beyond : std::int64_t {
    nothing,     // all limits allow it
    requests,    // per minute
    minute,      // tokens per minute
    day,         // tokens per day
    day_for_now  // the same, but running requests may leave enough
  } beyond = Beyond::nothing;
  std::int64_t wait_ms = 0;  // until the minute may allow it
  Tokens answer = 0;         // at most what was wished
  LimitShare share{};        // to be settled
  LimitState state{};        // afterwards
};

// What keys took of their limits. An answer that may shrink gets `limit_share` of the rest of the day, but at
// least `usual_answer`, if there is that much, and takes the same part of a minute at most.
inline constexpr std::int64_t limit_share = 4;
inline constexpr Tokens usual_answer = 512;

// What was used of a share. Without a share (all zero but its owner), it only adds.
struct LimitUse {
  LimitShare share{};
  Tokens used = 0;
};
struct LimitUsed {
  Tokens used_before = 0;  // of the day of `state`
  LimitState state{};      // without what is left of the minute
};

// Takes, or settles what was taken. Each has its own kind of result.
using LimitStep = std::variant<LimitWish, LimitUse>;
using LimitDone = std::variant<LimitGrant, LimitUsed>;

// Thread-safe. Used and reserved tokens never exceed the budget of a day.
class LimitStore {
 public:
  LimitStore() = default;
  LimitStore(const LimitStore&) = delete;
  LimitStore& operator=(const LimitStore&) = delete;
  virtual ~LimitStore() = default;

  // Does all steps, those of an owner in their order, or none: one round trip where the limits are on a
  // server. Returns what each of them did.
  virtual Result<std::vector<LimitDone>> work(std::span<const LimitStep> steps) = 0;

  Result<LimitGrant> take(const LimitWish& wish) { return one<LimitGrant>(wish); }
  Result<LimitUsed> settle(const LimitShare& share, Tokens used) {
    return one<LimitUsed>(LimitUse{share, used});
  }

 private:
  template <typename Done>
  Result<Done> one(LimitStep step) {
    auto done = work({&step, 1});
    if (!done) return tl::unexpected<Error>(std::move(done).error());
    return std::get<Done>(std::move(done->front()));
  }
};

}  // namespace plimsoll
