// Who may come in, and how much they may use.
//
// Without any key in the store everybody may, and it is the operator's business who reaches the port. With
// one, also where it was revoked, every route but a few needs a key that is known. Keys are read ahead by a
// thread of their own: a request costs a hash and a look into a table, and never waits for the store.
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

#include "gateway/auth/bucket.hpp"
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

// What a route asks of whoever comes.
struct Access {
  bool needs_key = true;    // where there are keys
  bool asks_model = false;  // takes of the key's tokens
};

struct Pass {
  engine::Caller caller{};
};

struct GateOptions {
  std::function<std::int64_t()> now_ms{};                 // UTC; none: the system's clock
  std::function<void(const BudgetAlert& alert)> alert{};  // must not wait
};

// Any thread may call at any time.
class Gate {
 public:
  // The store outlives it. `before`: a gate to the same store that this one follows; both count together.
  explicit Gate(KeyStore& store, GateOptions options = {}, const Gate* before = nullptr);
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate();

  // Reads the keys, and what was used today. Blocks.
  Result<void> refresh();
  // From now on as often as that, on a thread of its own.
  void refresh_every(std::chrono::milliseconds period);

  // Whether there is any key, of whatever kind.
  bool needs_keys() const { return needs_keys_; }
  // Whether somebody comes whom `admit` would look at. Counts nothing.
  bool knows(const base::Secret& key);
  tl::expected<Pass, Refusal> admit(const ClientRequest& request, const Access& access);
  // What is left of the owner's limits of a minute, as headers of an answer.
  std::vector<HttpHeader> limit_headers(const std::string& owner);
  // Sets aside what a request may use until its share goes. Of the day's budget no more is ever set aside and
  // used than there is. An answer that may shrink gets a part of what is left.
  tl::expected<engine::Share, Refusal> reserve(const std::string& owner, const engine::Need& need);
  // For what is asked on an owner's behalf after the request that wanted it: whether the key allows one more
  // question now, which is counted.
  std::optional<Refusal> refuses(const std::string& owner);
  // What an answer has used.
  void charge(const std::string& owner, Tokens tokens);

  struct Counters {
    std::atomic<std::uint64_t> unknown = 0;  // requests without a key that is known
    std::atomic<std::uint64_t> limited = 0;  // beyond what a key may use
    std::atomic<std::uint64_t> alerts = 0;
  };
  const Counters& counters() const { return counters_; }

 private:
  struct Holder {
    ApiKey key;
    Bucket requests, tokens;
    Tokens under_way = 0;  // set aside for requests that are not answered yet
    std::int64_t day = 0;
    Tokens used = 0;         // on that day
    std::int64_t told = 0;   // the highest alert of that day, in per cent
    Tokens told_budget = 0;  // that it was told of
  };
  using Holders = std::unordered_map<std::string, std::shared_ptr<Holder>>;
  // Outlives the gate where another follows it.
  struct Book {
    std::mutex mutex;
    Holders by_hash, by_id;
  };
  class HeldShare;

  static void begin_day(Holder& holder, std::int64_t day);
  // The alerts that are due now, and are not due again. A budget is used up as well where a request does not
  // fit into the last fifth of it.
  static void collect_alerts(Holder& holder, std::vector<BudgetAlert>& due, bool is_used_up = false);
  void tell(const std::vector<BudgetAlert>& alerts);
  static std::optional<Refusal> beyond_limits(Holder& holder, Tokens estimate, bool asks_model,
                                              std::int64_t now);
  static std::optional<Refusal> beyond_minute(Holder& holder, Tokens tokens, std::int64_t now);
  static std::optional<Refusal> beyond_day(const Holder& holder, Tokens tokens, std::int64_t now);
  void run(std::chrono::milliseconds period);

  KeyStore& store_;
  GateOptions options_;
  Counters counters_;
  std::atomic<bool> needs_keys_ = false;

  std::shared_ptr<Book> book_;
  std::mutex mutex_;  // of what follows
  bool stopping_ = false;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace plimsoll::gateway
