// Memory: facts that outlive a conversation, the port to our store of facts, and the port to external memory
// providers. docs/memory.md explains them; rules S2, S3 and S5 select the facts of a request.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/deadline.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll {

struct Fact {
  std::string id;               // "mem_..."
  std::string owner;            // only the owner sees it
  std::string session;          // empty: for all conversations of the owner; else only for this one
  std::string text;             // one line
  double importance = 0.7;      // 0 to 1
  double trust = 0.5;           // 0 to 1
  std::int64_t created_ms = 0;  // UTC
  std::int64_t updated_ms = 0;  // when it was last stated or rated helpful
  std::string source;           // origin: "user", "model", ...

  bool operator==(const Fact&) const = default;
};

// One rating of a fact, and the trust after it.
struct FactFeedback {
  bool helpful = false;
  std::int64_t at_ms = 0;  // UTC
  double trust = 0;

  bool operator==(const FactFeedback&) const = default;
};

// A bad rating lowers the trust more than a good one raises it. Computed in hundredths, so that rounding
// errors do not add up.
inline double trust_after(double trust, bool helpful) {
  const auto now = std::lround(std::clamp(trust, 0.0, 1.0) * 100);
  return static_cast<double>(std::clamp(now + (helpful ? 5 : -10), 0L, 100L)) / 100;
}

inline constexpr std::size_t longest_fact_bytes = 4'000;
inline constexpr std::size_t longest_session_bytes = 200;

// Selects facts by owner and conversation.
struct FactScope {
  std::string owner;
  std::optional<std::string> session{};  // none: all
  bool shared = false;  // with a session: include facts without a session, as a conversation does
};

// The vector of a fact's text; empty: not computed yet.
struct FactVector {
  std::string embedder;
  std::vector<float> values;  // of length 1
};

// The result of forgetting.
struct Forgotten {
  std::int64_t facts = 0;
  std::int64_t traces = 0;  // from which their text was removed
  // Whether the bytes are gone from the files too. False: another process was reading, and the bytes go at
  // the next deletion, at the latest when the store is closed; or the store is on a server, which cleans up
  // itself.
  bool purged = false;
};

// Thread-safe. Changes are on disk when a call returns.
class FactStore {
 public:
  FactStore() = default;
  FactStore(const FactStore&) = delete;
  FactStore& operator=(const FactStore&) = delete;
  virtual ~FactStore() = default;

  // Adds a fact. The same text of the same owner and session renews the fact: it keeps its id, trust and
  // history, and gets the new importance if `weighed`. bad_input: the owner already has
  // `most` facts.
  struct Added {
    Fact fact;
    bool is_new = true;
  };
  virtual Result<Added> add(const Fact& fact, bool weighed, const FactVector& vector, std::int64_t most) = 0;
  virtual Result<void> set_vector(std::string_view owner, std::string_view id, const FactVector& vector) = 0;

  // not_found, here and below: the owner has no fact with this id.
  virtual Result<Fact> fact(std::string_view owner, std::string_view id) = 0;
  // Newest first.
  virtual Result<std::vector<Fact>> facts(const FactScope& scope, std::size_t limit) = 0;
  virtual Result<bool> has_facts(const FactScope& scope) = 0;
  // Visits all facts with their vectors, in any order.
  using Visitor = std::function<void(Fact&& fact, FactVector&& vector)>;
  virtual Result<void> each_fact(const FactScope& scope, const Visitor& visit) = 0;

  // Returns the changed fact.
  virtual Result<Fact> feedback(std::string_view owner, std::string_view id, bool helpful) = 0;
  // Returns the last hundred ratings, oldest first.
  virtual Result<std::vector<FactFeedback>> history(std::string_view owner, std::string_view id) = 0;

  // Deletes facts with their vectors and history, and their text in the owner's traces.
  virtual Result<Forgotten> forget(std::string_view owner, std::string_view id) = 0;
  virtual Result<Forgotten> forget_session(std::string_view owner, std::string_view session) = 0;
};

// ---- Memory providers ----

struct RecallAsk {
  std::string query;
  std::string owner;
  std::string session;        // empty: no session
  std::int64_t limit = 0;     // 0: the provider does not support it
  double min_trust = 0;       // 0: the same
  bool only_related = false;  // leave out facts that are not related to the query
};

struct RecalledFact {
  Fact fact;
  double score = 0;  // relevance to the query, 0 to 1
  bool related = true;
};

// Thread-safe.
class MemoryProvider {
 public:
  MemoryProvider() = default;
  MemoryProvider(const MemoryProvider&) = delete;
  MemoryProvider& operator=(const MemoryProvider&) = delete;
  virtual ~MemoryProvider() = default;

  virtual std::string_view name() const = 0;  // label of its facts; empty: no label
  // Returns whether it supports `limit` and `min_trust`. The caller applies both in any case.
  virtual bool takes_limits() const = 0;
  // Returns whether our rule for importance and age applies to its facts too.
  virtual bool is_filtered() const = 0;
  // Best first.
  virtual Result<std::vector<RecalledFact>> recall(const RecallAsk& ask, Deadline deadline) = 0;
};

}  // namespace plimsoll
