// Checks API keys and their limits.
//
// Without any key in the store all clients are accepted, and the operator must protect the port. With a key,
// even a revoked one, all routes but a few require a known key. A background thread reads the keys: to know
// one costs a hash and a table lookup. Limits are in memory, or in a store that several gateways share; then
// a request with limits waits for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "gateway/auth/limit_queue.hpp"
#include "gateway/auth/memory_limits.hpp"
#include "gateway/gateway_settings.hpp"
#include "gateway/http/http_server.hpp"
#include "plimsoll/keys.hpp"

namespace plimsoll::gateway {

struct BudgetAlert {
  std::string key;  // its name
  std::int64_t percent = 0;
  Tokens used = 0, budget = 0;
  std::int64_t day = 0;  // since 1970, UTC
};

using engine::Refusal;

// Requirements of a route.
struct Access {
  bool needs_key = true;    // if there are keys
  bool asks_model = false;  // uses the key's tokens
  bool reserves = false;    // before a model is asked
};

struct Pass {
  engine::Caller caller{};
};

struct GateOptions {
  std::function<std::int64_t()> now_ms{};                 // UTC; none: the system's clock
  std::function<void(const BudgetAlert& alert)> alert{};  // must not block
  std::shared_ptr<LimitStore> limits{};                   // shared with other gateways; none: in memory
  WithoutStore without_store = WithoutStore::refuse;
};

// Thread-safe.
class Gate {
 public:
  // The store must outlive it. `before`: the gate of the same store that this one replaces; both share
  // counts.
  explicit Gate(KeyStore& store, GateOptions options = {}, const Gate* before = nullptr);
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate();

  // Reads the keys and today's usage. Blocks.
  Result<void> refresh();
  // Refreshes periodically on its own thread.
  void refresh_every(std::chrono::milliseconds period);

  // Returns whether there is any key, even a revoked one.
  bool needs_keys() const { return needs_keys_; }
  // Returns whether the key is valid. Counts nothing.
  bool knows(const base::Secret& key);
  using Admission = tl::expected<Pass, Refusal>;
  // None: shared limits must be asked, and admit() waits for their store.
  std::optional<Admission> admit_at_once(const ClientRequest& request, const Access& access) {
    return admit(request, access, /*may_wait=*/false);
  }
  Admission admit(const ClientRequest& request, const Access& access) {
    return *admit(request, access, /*may_wait=*/true);
  }
  // Returns the rest of the owner's limits per minute, as response headers.
  std::vector<HttpHeader> limit_headers(const std::string& owner);
  // Reserves what a request may use until its share is destroyed. Used and reserved tokens never exceed the
  // daily budget. An answer that may shrink gets a part of the rest. Blocks where the limits are shared.
  tl::expected<engine::Share, Refusal> reserve(const engine::Caller& caller, const engine::Need& need);
  // For background work on behalf of an owner: checks whether the key allows one more request now, and
  // counts it. Blocks where the limits are shared.
  std::optional<Refusal> refuses(const std::string& owner);
  // Charges the usage of an answer for which nothing was reserved.
  void charge(const std::string& owner, Tokens tokens);

  struct Counters {
    std::atomic<std::uint64_t> unknown = 0;  // requests without a known key
    std::atomic<std::uint64_t> limited = 0;  // above a key's limits
    std::atomic<std::uint64_t> alerts = 0;
  };
  const Counters& counters() const { return counters_; }

 private:
  struct Holder {
    ApiKey key;
    LimitState state{};              // as last seen
    std::int64_t told = 0;           // the highest alert of that day, in percent
    Tokens told_budget = 0;          // of that alert
    std::int64_t full_until_ms = 0;  // of shared limits: no request is allowed before
  };
  using Holders = std::unordered_map<std::string, std::shared_ptr<Holder>>;
  // Outlives the gate if another one replaces it.
  struct Book {
    std::mutex mutex;
    Holders by_hash, by_id;
  };
  class ReservedShare;
  class UncountedRequest;

  // Remembers what a store said.
  static void see(Holder& holder, const LimitState& state);
  // Collects the alerts that are due; each is due once. A budget also counts as used up if a request does not
  // fit into its last fifth.
  static void collect_alerts(Holder& holder, std::vector<BudgetAlert>& due, bool is_used_up = false);
  void tell(const std::vector<BudgetAlert>& alerts);
  std::optional<Admission> admit(const ClientRequest& request, const Access& access, bool may_wait);
  bool is_shared() const { return options_.limits != nullptr; }
  std::shared_ptr<Holder> holder_of(const std::string& owner);
  // Takes what a key's request needs from the limits. `tokens`: what it needs, as the error says it.
  tl::expected<LimitGrant, Refusal> take(Holder& holder, const LimitWish& wish, Tokens tokens);
  tl::expected<LimitGrant, Refusal> take_shared(Holder& holder, const LimitWish& wish);
  static Refusal refusal_of(const Holder& holder, const LimitWish& wish, const LimitGrant& grant,
                            Tokens tokens, std::int64_t now);
  static Refusal too_many(const Holder& holder, std::int64_t wait_ms);
  LimitWish admission(const Holder& holder, Tokens estimate, bool asks_model) const;
  // Whether a request may be counted together with its reservation, because the shared limits had enough left
  // when they were last seen.
  bool may_count_later(const Holder& holder, const LimitWish& wish, const Access& access) const;
  void settled(const std::string& owner, const LimitUsed& settled);
  void run(std::chrono::milliseconds period);

  KeyStore& store_;
  GateOptions options_;
  Counters counters_;
  std::atomic<bool> needs_keys_ = false;

  std::shared_ptr<Book> book_;
  std::shared_ptr<MemoryLimits> memory_;
  std::shared_ptr<LimitQueue> queue_;  // of shared limits
  std::atomic<std::int64_t> complain_after_ms_ = 0;
  std::mutex mutex_;  // guards the members below
  bool stopping_ = false;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace plimsoll::gateway
