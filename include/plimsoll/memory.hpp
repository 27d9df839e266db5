// Memory: facts that outlive a conversation, the port to where ours are kept, and the port to whoever else
// remembers. docs/memory.md explains them; rules S2, S3 and S5 say which come into a request.
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
  std::string owner;            // nobody else sees it
  std::string session;          // empty: of all the owner's conversations; else of that one alone
  std::string text;             // one line
  double importance = 0.7;      // 0 to 1: what it is worth
  double trust = 0.5;           // 0 to 1: how far it is believed
  std::int64_t created_ms = 0;  // UTC
  std::int64_t updated_ms = 0;  // when it was last said, or found helpful
  std::string source;           // who said it: "user", "model", ...

  bool operator==(const Fact&) const = default;
};

// What somebody thought of a fact that came into a request, and the trust from then on.
struct FactFeedback {
  bool helpful = false;
  std::int64_t at_ms = 0;  // UTC
  double trust = 0;

  bool operator==(const FactFeedback&) const = default;
};

// A fact that misled costs more than one that helped gains. In hundredths, so that a long history does not
// drift away by rounding.
inline double trust_after(double trust, bool helpful) {
  const auto now = std::lround(std::clamp(trust, 0.0, 1.0) * 100);
  return static_cast<double>(std::clamp(now + (helpful ? 5 : -10), 0L, 100L)) / 100;
}

inline constexpr std::size_t longest_fact_bytes = 4'000;
inline constexpr std::size_t longest_session_bytes = 200;

// Whose facts, and of which conversations.
struct FactScope {
  std::string owner;
  std::optional<std::string> session{};  // none: of all
  bool shared = false;  // with a session: also those that belong to none, as a conversation sees them
};

// The vector of a fact's text; empty: it has none yet.
struct FactVector {
  std::string embedder;
  std::vector<float> values;  // of length 1
};

// What became of forgetting.
struct Forgotten {
  std::int64_t facts = 0;
  std::int64_t traces = 0;  // that held their words, and hold them no more
  // Whether their bytes are gone from the files too. False: somebody was reading all the while; they go with
  // the next facts that are forgotten, at the latest when the store is closed.
  bool purged = false;
};

// Any thread may call at any time. What a call that changes something has answered is on disk.
class FactStore {
 public:
  FactStore() = default;
  FactStore(const FactStore&) = delete;
  FactStore& operator=(const FactStore&) = delete;
  virtual ~FactStore() = default;

  // The same words of the same owner and session are the same fact: it is renewed, with the importance given
  // now where that was `weighed`, and keeps its id, its trust and its history. bad_input: the owner has
  // `most` facts already.
  struct Added {
    Fact fact;
    bool is_new = true;
  };
  virtual Result<Added> add(const Fact& fact, bool weighed, const FactVector& vector, std::int64_t most) = 0;
  virtual Result<void> set_vector(std::string_view owner, std::string_view id, const FactVector& vector) = 0;

  // not_found, here and below: the owner has none of that id.
  virtual Result<Fact> fact(std::string_view owner, std::string_view id) = 0;
  // The newest first.
  virtual Result<std::vector<Fact>> facts(const FactScope& scope, std::size_t limit) = 0;
  virtual Result<bool> has_facts(const FactScope& scope) = 0;
  // All of them, in any order, with their vectors.
  using Visitor = std::function<void(Fact&& fact, FactVector&& vector)>;
  virtual Result<void> each_fact(const FactScope& scope, const Visitor& visit) = 0;

  // The fact as it is from now on.
  virtual Result<Fact> feedback(std::string_view owner, std::string_view id, bool helpful) = 0;
  // The last hundred, oldest first.
  virtual Result<std::vector<FactFeedback>> history(std::string_view owner, std::string_view id) = 0;

  // The facts, their vectors and history, and their words in the owner's traces.
  virtual Result<Forgotten> forget(std::string_view owner, std::string_view id) = 0;
  virtual Result<Forgotten> forget_session(std::string_view owner, std::string_view session) = 0;
};

// ---- Those who remember ----

struct RecallAsk {
  std::string query;
  std::string owner;
  std::string session;        // empty: of none
  std::int64_t limit = 0;     // 0: the provider does not take it
  double min_trust = 0;       // likewise
  bool only_related = false;  // leave out what has nothing to do with the query
};

struct RecalledFact {
  Fact fact;
  double score = 0;  // 0 to 1, how much it has to do with the query
  bool related = true;
};

// Any thread may call at any time.
class MemoryProvider {
 public:
  MemoryProvider() = default;
  MemoryProvider(const MemoryProvider&) = delete;
  MemoryProvider& operator=(const MemoryProvider&) = delete;
  virtual ~MemoryProvider() = default;

  virtual std::string_view name() const = 0;  // what its facts are labelled with; empty: they are not
  // Whether `limit` and `min_trust` mean something to it. Whoever asks keeps to both in any case.
  virtual bool takes_limits() const = 0;
  // Whether our rule for the importance and age of a fact holds for its facts too.
  virtual bool is_filtered() const = 0;
  // The best first.
  virtual Result<std::vector<RecalledFact>> recall(const RecallAsk& ask, Deadline deadline) = 0;
};

}  // namespace plimsoll
