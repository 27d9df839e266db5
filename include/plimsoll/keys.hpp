// API keys of the gateway's clients with their limits, and the port to the store of keys and
// usage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

}  // namespace plimsoll
