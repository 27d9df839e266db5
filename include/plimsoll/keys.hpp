// Keys that clients of the gateway come with, what each may use, and the port to where they and what was used
// are kept.
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
  std::int64_t requests_per_minute = 0;  // of all of these, 0: no limit
  Tokens tokens_per_minute = 0;
  Tokens tokens_per_day = 0;  // a day is UTC's

  bool operator==(const KeyLimits&) const = default;
};

struct ApiKey {
  std::string id;  // the owner of what is made with it; never that of another key
  std::string name;
  // SHA-256 of the secret in hexadecimal; the secret itself is kept nowhere. No salt and no slow hash: it has
  // 256 random bits, and what cannot be guessed needs no protection from being guessed fast.
  std::string hash;
  std::int64_t created_ms = 0;  // UTC
  bool private_indexes = false;
  KeyLimits limits;
  bool revoked = false;
};

// Whose usage, of which days, added up by what.
struct UsageWish {
  enum class By : std::uint8_t { owner, model, section, day };
  std::int64_t first_day = 0, last_day = 0;  // since 1970, UTC; both included
  std::string owner{};                       // empty: all
  By by = By::owner;
};
struct UsageSum {
  std::string group;    // an owner, a model, a section or the number of a day
  std::string section;  // as in UsedTokens
  Tokens tokens = 0;
  std::int64_t requests = 0;
};

// Any thread may call at any time. What was changed is on disk when the call returns.
class KeyStore {
 public:
  KeyStore() = default;
  KeyStore(const KeyStore&) = delete;
  KeyStore& operator=(const KeyStore&) = delete;
  virtual ~KeyStore() = default;

  // bad_input where a key has that name already, also one that was revoked: reports go by names.
  virtual Result<void> add(const ApiKey& key) = 0;
  // All that ever were, oldest first.
  virtual Result<std::vector<ApiKey>> keys() = 0;
  // not_found where no key has that hash; a revoked one is found, and says so.
  virtual Result<ApiKey> find(std::string_view hash) = 0;
  // The key as it is from now on. not_found names those that there are; bad_input: it was revoked.
  virtual Result<ApiKey> set_limits(std::string_view name, const KeyLimits& limits) = 0;
  virtual Result<ApiKey> set_hash(std::string_view name, std::string_view hash) = 0;
  virtual Result<ApiKey> revoke(std::string_view name) = 0;

  // In the order of groups and sections.
  virtual Result<std::vector<UsageSum>> usage(const UsageWish& wish) = 0;
};

}  // namespace plimsoll
